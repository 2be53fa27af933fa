"""Names from files and words in messages."""

import pytest

from morl_recipes.common import toml
from morl_recipes.common.naming import unknown
from morl_recipes.common.text import for_csv, for_html, for_latex, for_markdown, for_terminal
from tests.refusals import refused


@pytest.mark.parametrize("write", [for_terminal, for_markdown, for_csv, for_latex, for_html])
@pytest.mark.parametrize("name", ["PASTA (Ours)", "STCH (0.1)", "κ=0.4", "No PCGrad", "0.291 ± 0.024"])
def test_ordinary_names_stay_as_they_are(write, name: str) -> None:  # type: ignore[no-untyped-def]
    latex: dict[str, str | int | None] = {"±": r"$\pm$", "κ": r"$\kappa$"}
    latex = latex if write is for_latex else {}
    assert write(name) == name.translate(str.maketrans(latex))


def test_case_does_not_matter_and_distant_names_list_everything() -> None:
    assert "Nearest: No PCGrad" in str(unknown("row", "no pcgard", ["Linear", "No PCGrad"]))
    assert "Known: a, b." in str(unknown("row", "zzz", ["a", "b", "a"]))
    assert str(unknown("argument of Sum", "weight", [])) == "unknown argument of Sum 'weight'. Known: none."


def test_a_long_list_is_cut() -> None:
    assert str(unknown("row", "?", [f"row {i}" for i in range(40)])).endswith("row 8, row 9 and 30 more.")


def test_damaged_or_deeply_nested_text_is_refused() -> None:
    refused("Invalid value", toml.loads, "a = ")
    for text in ("a = " + "[" * 5000 + "]" * 5000, "a = " + "{b = " * 5000 + "1" + "}" * 5000):
        refused("fewer than some hundred nested levels", toml.loads, text)
