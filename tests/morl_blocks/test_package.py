import pytest

import morl_blocks
from morl_blocks import combine_gradients, llm, ppo


def test_names_are_listed_and_the_same_objects_and_others_are_refused() -> None:
    assert ppo.combine_gradients is combine_gradients
    assert llm.GroupAdvantage.__name__ == "GroupAdvantage"
    assert morl_blocks.__version__[0].isdigit()
    for package, unknown in ((morl_blocks, "pcgrad"), (llm, "gdpo")):
        assert set(package.__all__) <= set(dir(package))
        assert all(getattr(package, name) is not None for name in package.__all__)
        with pytest.raises(AttributeError, match=f"has no attribute '{unknown}'"):
            getattr(package, unknown)
