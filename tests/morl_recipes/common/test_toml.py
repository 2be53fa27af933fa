import pytest

from morl_recipes.common import toml


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{b = " * 5000 + "1" + "}" * 5000])
def test_deeply_nested_text_is_refused_by_a_rule(text: str) -> None:
    with pytest.raises(ValueError, match="fewer than some hundred nested levels"):
        toml.loads(text)


def test_damaged_text_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid value"):
        toml.loads("a = ")
