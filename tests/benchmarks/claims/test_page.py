"""The page and the README's lines, from made-up datasets."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.claims.claims import CLAIMS
from benchmarks.claims.curve_pictures import course_of
from benchmarks.claims.judge import UNTRAINED
from benchmarks.claims.overview import verdicts
from benchmarks.claims.page import page, sections_of
from benchmarks.claims.section import Section
from benchmarks.claims.write import BEGIN, END, write_all
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.common.scores import HYPERVOLUME
from morl_recipes.recipe.paper import REFERENCE
from tests.benchmarks.claims.made_up import made_up, noisy
from tests.docs.test_prose import COLUMNS, UNBREAKABLE, WORDS, sentences, words

FULL: Any = {"env": "frogger", "preferences": None, "steps": 999_424}


@pytest.fixture(scope="module")
def everything() -> list[Dataset]:
    """All rows on stealth, some of them not finished, frogger at full length, and a repeat of each."""
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
        made_up(level, rows=["baselines"], name="quadrotor-1m", **FULL),
        made_up(level, rows=["PASTA", "Linear"], seeds=(7, 8, 9), name="quadrotor-1m-repeat", **FULL),
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
    assert "| **not trained at full length yet** | — | — |" in lines["PASTA beats all baselines on formation"]
    assert "(on its own scale)" in lines["PASTA beats all baselines on frogger"]
    assert lines["PASTA beats all baselines on frogger"].count("**holds**") == 4  # by two scores, in two tables
    assert lines["frogger, baselines/Linear, EU"].endswith("| agrees |")
    assert "**PASTA beats all baselines on frogger**: " in text
    assert "; by EU: holds; the repeat on 3 other seeds agrees." in " ".join(text.split())
    assert "5 more are not trained at full length yet, and have no verdict." in " ".join(text.split())
    assert lines["PASTA beats all baselines"].count("**weaker**") == 2  # at a glance, and in the section
    assert lines["baselines/Linear"].endswith("| agrees |")
    assert not [line for line in text.splitlines() if len(line) > COLUMNS and not UNBREAKABLE.match(line)]
    assert not [sentence for sentence in sentences(text) if words(sentence) > WORDS]


def test_low_scores_and_rows_that_came_out_the_same_have_a_note(text: str) -> None:
    assert "far from what the bounds allow" not in text
    assert "came out the same" not in text
    level = noisy({REFERENCE: 0.3}, default=0.42)  # 0.42 of each of three objectives
    twins = made_up(lambda run: 0.5 if run.method in ("No Conflict", "kappa = 0.6") else level(run), name="twins")
    assert "\n- No Conflict and kappa = 0.6.\n" in _page([twins])
    for best, low in ((0.42, True), (0.6, False)):
        early = made_up(noisy({REFERENCE: 0.3}, default=best), rows=["baselines"], name="early")
        assert ("The best rows have an HV of 0.07" in " ".join(_page([early]).split())) == low


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
    whole, _, frogger, _ = everything
    behind = noisy({REFERENCE: 0.3, "Linear": 0.6, "Tchebycheff": 0.6})
    few = made_up(behind, rows=["PASTA", "Tchebycheff"], steps=8192, name="stealth-few")
    longer = made_up(behind, rows=["baselines"], steps=8192, name="stealth-longer")
    first = next(iter(verdicts([])))
    assert set(verdicts([]).values()) == {"not trained here", UNTRAINED}
    assert verdicts(sections_of([whole, few, frogger]))[first] == "weaker"
    assert verdicts(sections_of([whole, few, longer, frogger]))[first] == "reversed"


def test_a_claim_outside_stealth_waits_for_every_row_at_full_length() -> None:
    (frogger,) = [claim for claim in CLAIMS if claim.env == "frogger"]
    level = noisy({REFERENCE: 0.62})
    whole, short = (made_up(level, rows=["baselines"], name="f", **FULL | s) for s in ({}, {"steps": 200_704}))
    runs = whole.runs[(whole.runs["method"] != "Linear") | (whole.runs["seed"] > 0)].reset_index(drop=True)
    for dataset, verdict in ((whole, "holds"), (short, UNTRAINED), (replace(whole, runs=runs), UNTRAINED)):
        assert verdicts(sections_of([dataset]))[frogger] == verdict
    assert "| 8 of 9 rows trained |" in _page([replace(whole, runs=runs)])


def test_verdict_that_differs_along_the_training_is_still_changing() -> None:
    data = made_up(noisy({REFERENCE: 0.62, "Linear": 0.5}), rows=["PASTA", "Linear"], name="f", **FULL)
    low, high = (np.array(bound) for bound in data.manifest.environments["frogger"].bounds or ())
    for late, changes in ((0.4, False), (0.9, True)):  # Linear at the end: still behind, or ahead
        lines = []
        for run in data.done.to_dict("records"):
            ends = (0.62, 0.62) if run["method"] == REFERENCE else (0.4, late)
            for steps, height in zip((500_000, 999_424), ends, strict=True):
                returns = low + (high - low) * (height + 0.001 * run["seed"] * (run["method"] == REFERENCE))
                own = {key: run[key] for key in ("run_id", "group", "method", "env", "preference", "seed")}
                cells = {f"return_{i}": value for i, value in enumerate(returns)}
                lines.append({**own, "steps": steps, "hv": height**3, "eu": height, **cells})
        curves = pd.DataFrame(lines)
        ((course,), *_) = Section.of(data, curves=curves).courses
        assert course.changes == changes
        assert course.verdicts == ("holds", "holds", "reversed" if changes else "holds")
        _, means = course_of(curves[curves["method"] == "Linear"], HYPERVOLUME)
        assert [mean.estimate for mean in means] == pytest.approx([0.4**3, late**3])


def test_without_data_it_says_so(root: Path) -> None:
    write_all(root, [])
    text = (root / "docs/does_it_hold.md").read_text()
    assert "No claim of the paper is fully trained here yet." in text
    assert (text.count("**not trained here**"), text.count(f"**{UNTRAINED}**")) == (12, 6)
    assert (
        "[No claim of the paper is fully trained here yet](docs/does_it_hold.md)." in (root / "README.md").read_text()
    )
