"""Without the packages of the extras everything imports, and what needs one names it when it is used."""

import subprocess
import sys

import pytest

from morl_blocks._extras import EXTRAS, StandIn, explained, missing, needs, require

HIDE = f"import sys\nfor name in {sorted({*EXTRAS, 'trl'})!r}: sys.modules[name] = None\n"
EVERY_NAME = """
import importlib, pkgutil, morl_blocks
asked = {}
for found in pkgutil.iter_modules(morl_blocks.__path__, "morl_blocks."):
    if "._" in found.name:
        continue
    module = importlib.import_module(found.name)
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if type(value).__name__ != "StandIn" and not hasattr(value, "__needs__"):
            continue
        try:
            value(1)
        except ModuleNotFoundError as error:
            asked[name] = str(error)
for name, sentence in asked.items():
    print(sentence)
    assert sentence.startswith(f"`{name}` needs ") and "pip install 'morl-blocks[" in sentence, sentence
"""
USES = {
    "TorchJD": "torchjd: pip install 'morl-blocks[torchjd]'",
    "TorchJDScalarizer": "torchjd: pip install 'morl-blocks[torchjd]'",
    "AttentionGRPO": "trl: pip install 'morl-blocks[llm]'",
    "hypervolume": "moocore: pip install 'morl-blocks[metrics]'",
    "compare": "scipy: pip install 'morl-blocks[metrics]'",
    "VectorGAE": "tensordict: pip install 'morl-blocks[rl]'",
    "VectorClipPPOLoss": "tensordict: pip install 'morl-blocks[rl]'",
    "UnitBoxPolicy": "tensordict: pip install 'morl-blocks[rl]'",
    "ScalarizeReward": "tensordict: pip install 'morl-blocks[rl]'",
}


LIGHT = """
import sys, morl_blocks
assert 'torch' not in sys.modules
morl_blocks.combine_gradients, morl_blocks.objective_jacobian, morl_blocks.Combined
morl_blocks.scalarizers.Linear, morl_blocks.schedulers.Fixed, morl_blocks.combiners.PCGrad
morl_blocks.llm.group_advantage, morl_blocks.llm.ScalarizedReward
loaded = {'torchrl', 'tensordict', 'trl', 'transformers'} & set(sys.modules)
assert not loaded, loaded
"""
STARS = """
from morl_blocks.combiners import TorchJD
from morl_blocks.llm import AttentionGRPO
from morl_blocks.ppo import *
from morl_blocks.metrics import *
from morl_blocks.scalarizers import TorchJDScalarizer
calls = [lambda: TorchJD(len), lambda: TorchJDScalarizer(len), lambda: AttentionGRPO("model", reward_funcs=[len])]
for call in [*calls, lambda: VectorGAE.default_keys]:
    try: call()
    except ModuleNotFoundError as error: print(error)
assert not hasattr(VectorGAE, "__wrapped__")
print(run_hypervolume([1.0], [0.0], [2.0]))
"""


def said(code: str, hide: str = HIDE) -> str:
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True, check=True).stdout


def test_every_public_name_imports_and_says_what_it_needs() -> None:
    said(LIGHT, hide="")  # gradients and families load no TorchRL
    output = said(EVERY_NAME + STARS)
    for name, sentence in USES.items():
        assert f"`{name}` needs {sentence}." in output
    assert output.endswith("0.5\n")

    stand_in = StandIn("Name", (), {"error": ModuleNotFoundError("say so")})
    assert not hasattr(stand_in, "_private")
    with pytest.raises(ModuleNotFoundError, match="say so"):
        stand_in.public  # noqa: B018


def test_a_package_that_is_there_changes_nothing_and_other_import_errors_stay_as_they_are() -> None:
    @needs("torch")
    def double(number: int) -> int:
        return 2 * number

    assert double(2) == 4
    assert double.__name__ == "double"
    assert require("double", "torch").__name__ == "torch"
    error = ModuleNotFoundError("No module named 'typo'", name="typo")
    assert explained("hypervolume", error) is error
    assert "'morl-blocks[train]'" in str(missing("train", "tyro", "train"))
