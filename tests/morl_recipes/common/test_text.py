"""Names from files and words in messages."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from morl_recipes.analysis.tables.render import render_table
from morl_recipes.common import toml
from morl_recipes.common.naming import unknown
from morl_recipes.common.text import for_csv, for_html, for_latex, for_markdown, for_terminal
from morl_recipes.recipe.run import Run
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fakes import fake_record

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07name",
    "two\nlines\r\x85and\u2028more",
    "=HYPERLINK(1,2)",
    "@SUM(1)",
    "-1+1",
    " +1",
    "[10pt] row",
    "* row",
    "\\input{/etc/passwd}",
    "[me](javascript:alert(1))",
    "<a href='http://x'>me</a><script>x</script>",
    "![pixel](http://x/y.png)",
    "abc\u202egnp.exe",
    "a | b",
]


@pytest.fixture(params=HOSTILE)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store whose group, method, environment and objectives have a hostile name."""
    name = request.param
    runs = tuple(Run({}, (0.5, 0.5), 0, f"r{k}", name, f"{name}{k}", name, 100) for k in range(2))
    made = Store.create(
        tmp_path / "s", Manifest("c", {name: EnvInfo((name, "other"), (0.0, -60.0), (10.0, 0.0))}, runs)
    )
    for run in runs:
        made.write(replace(fake_record(run), policy={}))
    return made


@pytest.mark.parametrize("kind", ["summary", "preferences"])
def test_no_format_passes_a_command_on(store: Store, kind: str) -> None:
    texts = {name: render_table(store, format=name, kind=kind) for name in ("terminal", "markdown", "csv", "latex")}  # type: ignore[arg-type]
    for text in texts.values():
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u2029\u202a-\u202e]", text)
    for row in csv.reader(io.StringIO(texts["csv"])):
        assert all(not cell.lstrip().startswith(("=", "+", "@")) for cell in row)
        assert all(not cell.lstrip().startswith("-") or float(cell) < 0 for cell in row)
    assert not re.search(r"(?<!\\)\[[^]]*\]\(", texts["markdown"])
    assert not re.search(r"(?<!\\)<\w", texts["markdown"])
    assert "http://" not in texts["markdown"]
    assert not re.search(r"\\\\\n\s*[\[*]", texts["latex"])
    assert "\\input" not in texts["latex"]


@pytest.mark.usefixtures("store")
def test_a_report_has_no_tag_of_theirs(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    from morl_recipes.analysis.report import offline
    from morl_recipes.analysis.report.page import write_report

    page = write_report(store, tmp_path / "report.html").read_text()
    own = page.replace(offline.plotly_script(), "")
    assert "<script>x" not in own
    assert "<a href='http://x'" not in own
    assert "\\u003ca href" not in own
    assert "\x1b" not in own


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


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{b = " * 5000 + "1" + "}" * 5000])
def test_deeply_nested_text_is_refused_by_a_rule(text: str) -> None:
    with pytest.raises(ValueError, match="fewer than some hundred nested levels"):
        toml.loads(text)


def test_damaged_text_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid value"):
        toml.loads("a = ")
