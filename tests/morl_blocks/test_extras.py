"""Without the packages of the extras everything imports, and what needs one names it when it is used."""

import subprocess
import sys

import pytest

from morl_blocks._extras import EXTRAS, StandIn, explained, missing, needs, require

HIDE = f"import sys\nfor name in {sorted(EXTRAS)!r}: sys.modules[name] = None\n"
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
    "hypervolume": "moocore: pip install 'morl-blocks[metrics]'",
    "compare": "scipy: pip install 'morl-blocks[metrics]'",
    "VectorGAE": "tensordict: pip install 'morl-blocks[rl]'",
    "VectorClipPPOLoss": "tensordict: pip install 'morl-blocks[rl]'",
    "UnitBoxPolicy": "tensordict: pip install 'morl-blocks[rl]'",
    "ScalarizeReward": "tensordict: pip install 'morl-blocks[rl]'",
}


def said(code: str) -> str:
    return subprocess.run([sys.executable, "-c", HIDE + code], capture_output=True, text=True, check=True).stdout


def test_every_public_name_imports_and_says_what_it_needs() -> None:
    output = said(EVERY_NAME)
    for name, sentence in USES.items():
        assert f"`{name}` needs {sentence}." in output


def test_the_adapters_of_torchjd_say_what_they_need() -> None:
    code = "from morl_blocks.{0} import {1}\ntry: {1}(len)\nexcept ModuleNotFoundError as error: print(error)"
    for package, name in (("combiners", "TorchJD"), ("scalarizers", "TorchJDScalarizer")):
        assert said(code.format(package, name)) == f"`{name}` needs torchjd: pip install 'morl-blocks[torchjd]'.\n"


def test_a_star_import_and_the_neighbours_work() -> None:
    code = "from morl_blocks.ppo import *\nfrom morl_blocks.metrics import *\n"
    assert said(code + "print(run_hypervolume([1.0], [0.0], [2.0]))") == "0.5\n"


def test_names_of_a_stand_in() -> None:
    code = "from morl_blocks.ppo import VectorGAE\nassert not hasattr(VectorGAE, '__wrapped__')\nVectorGAE.default_keys"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        said(code)
    assert "`VectorGAE` needs tensordict" in caught.value.stderr

    stand_in = StandIn("Name", (), {"error": ModuleNotFoundError("say so")})
    assert not hasattr(stand_in, "_private")
    with pytest.raises(ModuleNotFoundError, match="say so"):
        stand_in.public  # noqa: B018


def test_a_package_that_is_there_costs_a_look() -> None:
    @needs("torch")
    def double(number: int) -> int:
        return 2 * number

    assert double(2) == 4
    assert double.__name__ == "double"
    assert require("double", "torch").__name__ == "torch"


def test_other_import_errors_stay_as_they_are() -> None:
    error = ModuleNotFoundError("No module named 'typo'", name="typo")
    assert explained("hypervolume", error) is error
    assert "'morl-blocks[train]'" in str(missing("train", "tyro", "train"))
