import subprocess
import sys

import pytest

import morl_blocks
from morl_blocks import combine_gradients, ppo


def test_gradients_and_families_need_no_torchrl() -> None:
    code = (
        "import sys, morl_blocks\n"
        "assert 'torch' not in sys.modules\n"
        "morl_blocks.combine_gradients, morl_blocks.objective_jacobian, morl_blocks.Combined\n"
        "morl_blocks.scalarizers.Linear, morl_blocks.schedulers.Fixed, morl_blocks.combiners.PCGrad\n"
        "loaded = {'torchrl', 'tensordict'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_names_are_the_same_objects() -> None:
    assert ppo.combine_gradients is combine_gradients
    assert morl_blocks.ppo is ppo
    assert set(morl_blocks.__all__) <= set(dir(morl_blocks))
    for name in morl_blocks.__all__:
        assert getattr(morl_blocks, name) is not None


def test_version_and_unknown_names() -> None:
    assert morl_blocks.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="has no attribute 'pcgrad'"):
        morl_blocks.pcgrad  # noqa: B018
