"""The page and the README's lines, from made-up datasets."""

import re
from pathlib import Path

import pytest

from benchmarks.claims.overview import verdicts
from benchmarks.claims.page import headline, page, sections_of
from benchmarks.claims.write import BEGIN, END, write_all
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.recipe.paper import REFERENCE
from tests.benchmarks.claims.made_up import made_up, noisy
from tests.docs.test_prose import COLUMNS, UNBREAKABLE, WORDS, sentences, words

NUMBERS = re.compile(r"[+-][0-9.]+")


@pytest.fixture(scope="module")
def everything() -> list[Dataset]:
    """All rows on stealth, some of them not finished, a repeat, and frogger."""
    level = noisy({REFERENCE: 0.62, "Linear": 0.6})
    skipped = {("CAGrad", 1), ("rho=0.8", 0), ("rho=0.8", 1), ("rho=0.8", 2)}
    return [
        made_up(lambda run: None if (run.method, run.seed) in skipped else level(run), name="stealth-200k"),
        made_up(
            noisy({REFERENCE: 0.62, "Linear": 0.6}, seed=1),
            rows=["PASTA", "Linear"],
            seeds=(7, 8, 9),
            name="stealth-200k-repeat",
        ),
        made_up(level, rows=["baselines"], env="frogger", preferences=None, name="quadrotor-300k"),
    ]


@pytest.fixture(scope="module")
def text(everything: list[Dataset]) -> str:
    return _page(everything)


def _page(datasets: list[Dataset]) -> str:
    return page(sections_of(datasets), "pictures/hold")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"before\n\n{BEGIN}\nyesterday\n{END}\n\nafter\n")
    return tmp_path


def test_the_same_data_make_the_same_files(everything: list[Dataset], root: Path) -> None:
    stale = root / "docs/pictures/hold/old.png"
    stale.parent.mkdir(parents=True)
    stale.touch()
    data = [made_up(noisy({REFERENCE: 0.62}), rows=["PASTA", "pcgrad"], name="stealth-200k"), everything[2]]
    made = write_all(root, data)
    first = {path: path.read_bytes() for path in made}
    assert not stale.exists()
    assert set((root / "docs").rglob("*.png")) == {path for path in made if path.suffix == ".png"}
    assert len(made) == 5  # a group of stealth, frogger, all claims, the page, the README
    assert write_all(root, data) == made
    assert {path: path.read_bytes() for path in made} == first
    readme = (root / "README.md").read_text()
    assert readme.startswith(f"before\n\n{BEGIN}\n\n")
    assert readme.endswith(f"{END}\n\nafter\n")
    assert "yesterday" not in readme
    assert (root / readme.partition('src="')[2].partition('"')[0]).exists()
    (root / "README.md").write_text("mine\n")  # without marks
    write_all(root, everything[2:])
    assert (root / "README.md").read_text() == "mine\n"


def test_untrained_rows_are_named_beside_their_claims_and_the_page_can_be_read_aloud(text: str) -> None:
    assert "| stealth, rho | `rho=0.8 (0 of 6)` |" in text
    assert "| stealth, ours | `CAGrad (4 of 6)` |" in text
    lines: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            lines[line.split("|")[1].strip()] = lines.get(line.split("|")[1].strip(), "") + line
    assert "**not trained here**" in lines["CAGrad in place of PCGrad"]
    assert "(11 of 12 rows)" in lines["Any \N{GREEK SMALL LETTER RHO} beats all baselines"]
    assert lines["PASTA beats all baselines on formation"].endswith("| **not trained here** | — | — | — | — |")
    assert "(on its own scale)" in lines["PASTA beats all baselines on frogger"]
    assert lines["PASTA beats all baselines"].count("**weaker**") == 2  # at a glance, and in the section
    assert "not distinguishable" in lines["baselines/Linear"]
    assert not [line for line in text.splitlines() if len(line) > COLUMNS and not UNBREAKABLE.match(line)]
    assert not [sentence for sentence in sentences(text) if words(sentence) > WORDS]


def test_low_scores_and_rows_that_came_out_the_same_have_a_note(text: str) -> None:
    assert "little is learnt" not in text
    assert "came out the same" not in text
    level = noisy({REFERENCE: 0.3}, default=0.42)  # 0.42 of each of three objectives
    twins = made_up(lambda run: 0.5 if run.method in ("No Conflict", "kappa = 0.6") else level(run), name="twins")
    assert "\n- No Conflict and kappa = 0.6.\n" in _page([twins])
    for best, low in ((0.42, True), (0.6, False)):
        early = made_up(noisy({REFERENCE: 0.3}, default=best), rows=["baselines"], name="early")
        assert ("The best rows have an HV of 0.07" in " ".join(_page([early]).split())) == low
        assert any("in which little is learnt" in line for line in headline(sections_of([early]))) == low


def test_rows_without_anything_beside_them_show_their_scores_alone() -> None:
    rows = ["PASTA", "Linear"]
    level = noisy({REFERENCE: 0.62})
    alone = made_up(lambda run: level(run) if run.method == REFERENCE else None, rows=rows, name="alone")
    text = _page([alone])
    assert "Too little is trained to judge a claim by it." in text
    (line,) = [line for line in text.splitlines() if line.startswith(f"| stealth | {REFERENCE} | 0.2")]
    assert line.count("[") == 2
    assert "`Linear (0 of 6)`" in text
    assert "### What could have been seen" not in text


def test_a_claim_is_judged_by_most_rows_and_then_by_most_steps(everything: list[Dataset]) -> None:
    whole, _, frogger = everything
    behind = noisy({REFERENCE: 0.3, "Linear": 0.6, "Tchebycheff": 0.6})
    few = made_up(behind, rows=["PASTA", "Tchebycheff"], steps=8192, name="stealth-few")
    longer = made_up(behind, rows=["baselines"], steps=8192, name="stealth-longer")
    first = next(iter(verdicts([])))
    assert set(verdicts([]).values()) == {"not trained here"}
    assert verdicts(sections_of([whole, few, frogger]))[first] == "weaker"
    assert verdicts(sections_of([whole, few, longer, frogger]))[first] == "reversed"


def test_without_data_it_says_so(root: Path) -> None:
    write_all(root, [])
    text = (root / "docs/does_it_hold.md").read_text()
    assert "No claim of the paper is fully trained here yet." in text
    assert text.count("**not trained here**") == 18
    assert (
        "[No claim of the paper is fully trained here yet](docs/does_it_hold.md)." in (root / "README.md").read_text()
    )
