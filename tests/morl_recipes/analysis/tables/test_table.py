"""The tables in every format, with the paper's numbers beside ours."""

import csv
import io
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from morl_blocks.metrics import preference_correlation, preference_regret
from morl_blocks.scalarizers import SmoothTchebycheff
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables import Format, Kind, render_table
from morl_recipes.analysis.tables.following import following, following_table
from morl_recipes.analysis.tables.preferences import preference_tables
from morl_recipes.analysis.tables.summary import summary_table
from morl_recipes.common.scores import UTILITY
from morl_recipes.recipe import paper
from morl_recipes.store.frames import load_runs
from morl_recipes.store.manifest import EnvInfo
from morl_recipes.store.store import Store
from tests.morl_recipes.conftest import ALL_OF_LINEAR
from tests.refusals import refused

MakeStore = Callable[..., Store]
MakeStudy = Callable[..., Study]
EIGHT = tuple(paper.preference_weights(p) for p in paper.per_preference()["preference"].unique()[:8])


def test_the_papers_rows_and_numbers_stand_beside_ours(make_study: MakeStudy) -> None:
    methods = paper.summary().query("group == 'critic'")["method"].tolist()
    study = make_study(methods={"critic": methods}, preferences=EIGHT, seeds=2, iterations=4)
    table = summary_table(study)
    assert [row[0].text for row in table.rows] == methods
    assert [row[2].text for row in table.rows] == ["0.291 ± 0.024", "0.264 ± 0.019", "0.246 ± 0.018", "0.253 ± 0.017"]
    assert [[row[i].text for i in (5, 7, 9)] for row in table.rows][1] == ["25.0", "20.8", "0.895"]
    power, reading = table.notes
    assert power.startswith("With 2 seeds a true HV difference to PASTA of 0.")
    assert reading.startswith("Scores are best validations")
    assert sum(row[1].best for row in table.rows) == 1
    assert table.rows[0][10].text == "—"
    assert all(row[10].text in ("better", "worse", "not distinguishable") for row in table.rows[1:])


def test_rows_that_came_out_the_same_are_named(make_study: MakeStudy) -> None:
    study = make_study(methods={"mine": ["PASTA", "A", "B"]})
    note = "The same returns in every run, to the last digit: A, B."
    assert note not in summary_table(study).notes
    study.returns[2] = study.returns[1]
    assert note in summary_table(study).notes
    study.returns[2, 0, 0, 0] += 1e-9  # one run that differs is enough
    assert note not in summary_table(study).notes
    study.returns[1:] = np.nan  # rows without runs are not alike
    assert note not in summary_table(study).notes


def test_worse_row_is_called_worse_and_equal_row_is_not_distinguishable(make_study: MakeStudy) -> None:
    study = make_study(methods={"mine": ["PASTA", "Linear", "A twin (Ours too)"]}, seeds=5)
    table = summary_table(study)
    assert not [name for name in table.columns if name.endswith("paper")]
    assert not [name for name in table.numbers[0] if name.startswith("paper_")]
    assert [row[-2].text for row in table.rows] == ["—", "worse", "not distinguishable"]


def test_any_row_can_be_the_one_to_compare_with_and_stands_in_every_table(make_store: MakeStore) -> None:
    store = make_store(methods={"baselines": ["PASTA (Ours)", "Linear"], "mine": ["My brake"]}, seeds=5)
    usual, other = (load_results(store, against=row).studies for row in (None, "linear"))
    assert [study.methods for study in usual] == [("PASTA (Ours)", "Linear"), ("PASTA (Ours)", "My brake")]
    assert [study.methods for study in other][1] == ("PASTA (Ours)", "Linear", "My brake")
    table = summary_table(other[1])
    assert "HV against Linear" in table.columns
    assert [row[-2].text for row in table.rows[:2]] == ["better", "—"]
    assert any("a true HV difference to Linear of" in note for note in table.notes)
    assert {row["against"] for row in table.numbers} == {"Linear"}
    assert render_table(store, against="pasta") == render_table(store)
    refused(r"unknown row of these results 'Linea'\. Nearest: Linear\.", render_table, store, against="Linea")


@pytest.mark.parametrize(
    ("env", "group"), [("stealth", "utopia"), ("frogger", "baselines"), ("formation", "baselines")]
)
def test_papers_appendix_fills_the_summary_unless_its_bounds_differ(
    make_study: MakeStudy, env: str, group: str
) -> None:
    rows = paper.per_preference().query("env == @env and group == @group")
    preferences = tuple(paper.preference_weights(p) for p in rows["preference"].unique())
    methods = {group: rows["method"].unique().tolist()}
    study = make_study(methods=methods, preferences=preferences, env=env, seeds=1, iterations=3)
    summary, appendix = summary_table(study), preference_tables(study)[-1]
    assert any("no interval if" in note for note in summary.notes)
    assert "paper" in appendix.columns  # its utilities and returns are raw numbers like ours
    if env == "stealth":
        assert {row[0].text: row[2].text for row in summary.rows}["PASTA (Ours)"] == "0.291 ± 0.024"
        assert [name for name in summary.columns if name.endswith("paper")] == ["HV, paper"]
        return
    for table in (summary, appendix):
        assert "HV, paper" not in table.columns
        assert table.columns[2] != "paper"
        assert any(note.startswith("The paper's HV is not shown: it has other bounds") for note in table.notes)
        assert not {"paper_hv", "paper_hv_mean"} & set(table.numbers[0])


def test_the_papers_reading_and_the_test_score_stand_side_by_side(make_store: MakeStore) -> None:
    store = make_store(untested=frozenset())
    table, peaks = (summary_table(load_results(store, score=score).studies[0]) for score in (None, "peak"))
    assert table.columns[:4] == ("Method", "HV", "HV, peak", "HV, paper")
    assert peaks.columns[:4] == ("Method", "HV", "HV, test", "HV, paper")
    assert [row[1].detail for row in table.rows] == [row[2].detail for row in peaks.rows]
    (study,) = load_results(store).studies
    bias = f"here peak minus test is {study.bias[0]:+.3f} HV (mean over 12 runs, 37 % of the test score)."
    for one in (table, peaks):
        assert sum(note.startswith("Selection bias: the best of several noisy validations") for note in one.notes) == 1
        assert any(note.endswith(bias) for note in one.notes)
    rows = _rows(render_table(store, format="csv"))
    assert [row["method"] for row in rows] == ["PASTA (Ours)", "Linear"]
    assert [row["hv_difference"] == "" for row in rows] == [True, False]
    assert float(rows[1]["paper_obj_dom_rate"]) == pytest.approx(0.042)
    assert rows[0]["score"] == "test"
    assert float(rows[0]["hv"]) == pytest.approx(study.hv[0].mean())
    assert float(rows[0]["peak_hv"]) == pytest.approx(study.every["peak"][0].mean())
    assert "Scores are last validations." in render_table(store, score="final")
    last, frame = load_results(store, score="test_final").studies[0], load_runs(store)
    assert "Scores are test scores of the last policy" in " ".join(summary_table(last).notes)
    written = frame.set_index("run_id")["test_final_hv"].reindex(last.run_ids.ravel())
    np.testing.assert_allclose(last.hv.ravel(), written.to_numpy(), atol=1e-6)
    cells = _rows(render_table(store, format="csv", kind="preferences"))
    assert (len(cells), cells[0]["paper_hv_mean"]) == (4, "0.28")
    assert float(cells[0]["eu_mean"]) == pytest.approx(study.score(UTILITY)[0, 0].mean())


def test_appendix_table_has_the_papers_cells_of_exactly_its_preference(make_study: MakeStudy) -> None:
    near, other, own = preference_tables(make_study(preferences=((0.104, 0.696, 0.2), EIGHT[3], (0.1, 0.7, 0.2))))
    assert near.title == "stealth, baselines, preference 0.104-0.696-0.200"
    assert "paper" not in near.columns
    assert other.title == "stealth, baselines, preference 0.33-0.33-0.33"
    assert own.columns[:5] == ("Method", "HV", "paper", "EU", "paper")
    assert [own.rows[0][2].text, own.rows[1][4].text] == ["0.280 ± 0.015", "180.621 ± 49.517"]
    assert any("Ours covers 2 of the paper's 8 preferences and 1 others; the" in note for note in own.notes)


def test_formats_escape_names_and_hold_a_whole_table(make_store: MakeStore) -> None:
    store = make_store(methods={"my_group": ["50% & more_#1", "a|b", "PASTA"]})
    text = render_table(store, format="latex")
    assert r"50\% \& more\_\#1" in text
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert r"$\pm$" in text
    assert "±" not in text
    assert {line.count(" & ") for line in text.splitlines() if line.endswith(r" \\")} == {7}
    text = render_table(store, format="markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {9}
    assert "**" in text
    refused("`format` must be 'terminal', 'markdown', 'csv' or 'latex', got 'html'", render_table, store, format="html")
    refused("`kind` must be 'summary', 'preferences' or 'following', got 'all'", render_table, "nowhere", kind="all")


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_terminal_lines_fit(make_store: MakeStore) -> None:
    store = make_store()
    for width in (60, 80, 200):
        text = render_table(store, width=width)
        table = text.split("\n\n- ")[0].split("\n\n* the best")[0]
        assert "* the best of its column." in text
        assert "12 of 12 runs have no test score (`morl-blocks test " in " ".join(text.split())
        assert "HV, test" not in text
        assert max(len(line) for line in text.splitlines() if "/" not in line) <= width  # a path stays whole
        assert max(map(len, table.splitlines())) <= width
        assert "0.291 ± 0.024" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"bounds": False},
        {"methods": {"pasta": ["PASTA"]}, "preferences": ((0.5, 0.5),), "seeds": 1, "env": "toy"},
        {"preferences": ((0.2, 0.2, 0.2, 0.2, 0.2),), "env": "toy"},
        {"nan": ALL_OF_LINEAR},
    ],
    ids=["no bounds", "one of each", "five objectives", "all nan"],
)
def test_odd_sweeps_have_gaps_not_numbers(make_store: MakeStore, changes: dict[str, Any]) -> None:
    store = make_store(iterations=3, **changes)
    for form, kind in product(get_args(Format), get_args(Kind)):
        text = render_table(store, format=form, kind=kind)
        assert ("regret" in text.lower()) == (kind == "following")
        assert "PASTA" in text
        assert "nan" not in text.lower().replace("dominance", "")


PAGE = "\\documentclass{article}\n\\usepackage{booktabs, graphicx}\n\\begin{document}\n%s\\end{document}\n"
STRANGE = (
    "50% & more_#1 ~^\\{x}",
    '[1ex] a "quoted" µ ≥ λ <|> `é` ő 中 --x',
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ…§¶©",
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ\u2212∞",
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_real_latex_prints_every_name(make_store: MakeStore, kind: Kind, tmp_path: Path) -> None:
    store = make_store(methods={"my_group": ["PASTA", *STRANGE]}, seeds=2, skip=frozenset({("PASTA", 0, 0)}))
    (tmp_path / "page.tex").write_text(PAGE % render_table(store, format="latex", kind=kind))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    printed = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, printed
    for trouble in ("Missing character", "Overfull", "LaTeX Error"):
        assert trouble not in printed


def test_the_caption_says_what_brackets_and_marks_mean(make_store: MakeStore) -> None:
    store = make_store()
    spread = {"summary": (r"$\pm$", "over preferences"), "preferences": (r"$\pm$", "over seeds")}
    for kind in get_args(Kind):
        text = render_table(store, format="latex", kind=kind)
        captions = [line.lower() for line in text.splitlines() if line.startswith(r"\caption")]
        assert captions
        assert text.count(r"\label{tab:stealth-baselines") == text.count(r"\begin{table}") == len(captions)
        words = ("in brackets", "95", "bold: the best of its column", *spread.get(kind, ("over seeds",)))
        assert all(word in caption for caption in captions for word in words)


ASKED = ((0.8, 0.1, 0.1), (0.1, 0.7, 0.2), (0.2, 0.2, 0.6))


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store(methods={"critic": ["PASTA (Ours)"]}, preferences=ASKED, seeds=3, iterations=2)


@pytest.fixture
def study(store: Store) -> Study:
    """Return a study whose policies get 100 times what was asked for, and a little noise in the first seed."""
    (found,) = load_results(store).studies
    returns = 100 * np.broadcast_to(np.array(ASKED)[:, None, :], (1, 3, 3, 3)).copy()
    returns[0, :, 0] += np.random.default_rng(0).normal(size=(3, 3))
    return replace(found, returns=returns, info=EnvInfo(found.info.objectives, (0.0,) * 3, (100.0,) * 3))


def test_numbers_are_those_of_the_metrics(study: Study) -> None:
    regret, each, seeds = following(study, 0)
    runs = np.moveaxis(study.returns[0], 1, 0)
    assert seeds == 3
    expected = preference_regret(runs / 100, ASKED, SmoothTchebycheff(0.1))
    assert regret.estimate == pytest.approx(expected.mean())
    assert 0 <= regret.low <= regret.estimate <= regret.high
    for i, interval in enumerate(each):
        assert interval.estimate == pytest.approx(preference_correlation(runs, ASKED)[:, i].mean())
        assert interval.high <= 1


def test_a_seed_that_misses_a_preference_does_not_count(study: Study) -> None:
    returns = study.returns.copy()
    returns[0, 1, 0] = np.nan
    _, each, seeds = following(replace(study, returns=returns), 0)
    assert seeds == 2
    assert [interval.estimate for interval in each] == pytest.approx([1.0] * 3)
    returns[0, 1] = np.nan
    assert following(replace(study, returns=returns), 0)[2] == 0
    assert following_table(replace(study, returns=returns)).rows[0][1].text == "—"


def test_without_bounds_there_is_no_regret_and_a_note(study: Study) -> None:
    table = following_table(replace(study, info=EnvInfo(study.info.objectives)))
    assert table.rows[0][1].text == "—"
    assert table.rows[0][2].text != "—"
    assert any(note.startswith("No regret") for note in table.notes)


def test_objective_whose_weight_never_changes_has_no_correlation(make_study: MakeStudy) -> None:
    study = make_study(preferences=((0.8, 0.1, 0.1), (0.3, 0.1, 0.6)), seeds=2, iterations=2)
    _, (first, second, _), _ = following(study, 0)
    assert np.isfinite(first.estimate)
    assert np.isnan(second.estimate)
