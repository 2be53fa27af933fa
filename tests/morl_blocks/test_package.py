import pytest

import morl_blocks
from morl_blocks import combine_gradients, llm, ppo


def test_the_names_are_the_same_objects() -> None:
    assert ppo.combine_gradients is combine_gradients
    assert morl_blocks.ppo is ppo
    assert set(llm.__all__) <= set(dir(llm))
    assert llm.GroupAdvantage.__name__ == "GroupAdvantage"
    assert set(morl_blocks.__all__) <= set(dir(morl_blocks))
    for name in morl_blocks.__all__:
        assert getattr(morl_blocks, name) is not None


def test_version_and_unknown_names() -> None:
    assert morl_blocks.__version__[0].isdigit()
    for package, name in ((morl_blocks, "pcgrad"), (llm, "gdpo")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(package, name)
