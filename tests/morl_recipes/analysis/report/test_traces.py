"""Figures of the report: curves with bands, differences, points and looks."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from morl_recipes.analysis.report import series, traces
from morl_recipes.analysis.report.against import against
from morl_recipes.analysis.report.figures import write_figures
from morl_recipes.analysis.report.series import MAX_POINTS, history_columns, training_frame
from morl_recipes.analysis.report.style import DARK_BACKGROUND, LIGHT_BACKGROUND, styles
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.statistics import study_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
MakeStudy = Callable[..., Study]
curves: Callable[..., Any] = series.curves  # without the types of missing bands


@pytest.fixture
def curves_of(make_store: MakeStore) -> Callable[..., tuple[Study, pd.DataFrame]]:
    """Return a function from the fields of a sweep to its study and the frame of its training."""

    def make(**fields: Any) -> tuple[Study, pd.DataFrame]:
        results = load_results(make_store(**fields), history=True)
        return results.studies[0], training_frame(results.studies[0], results.history)

    return make


def test_bands_are_one_standard_deviation_over_seeds_or_preferences(curves_of: Any) -> None:
    study, frame = curves_of()
    band = curves(study, frame, "eu")[1, 0]
    rows = frame[(frame["method"] == "Linear") & (frame["preference"] == study.preferences[0])]
    table = rows.pivot(index="steps", columns="seed", values="eu").to_numpy()
    np.testing.assert_allclose(band.mean, table.mean(1))
    np.testing.assert_allclose(np.stack([band.low, band.high]), table.mean(1) + np.outer([-1, 1], table.std(1, ddof=1)))
    found = curves(study, frame, "hv")
    means, whole = np.stack([found[0, 0].mean, found[0, 1].mean]), found[0, None]
    np.testing.assert_allclose(whole.mean, means.mean(0))
    np.testing.assert_allclose(whole.high - whole.mean, means.std(0, ddof=1))


def test_band_is_clipped_to_the_limits_of_its_score(curves_of: Any) -> None:
    study, frame = curves_of()
    wild = frame.assign(eu=[-5.0, 5.0] * (len(frame) // 2))
    wild["hv"] = np.where(wild["run_id"] == study.run_ids[0, 0, 0], 1.0, 0.0)
    band = curves(study, wild, "hv")[0, 0]
    assert (band.low.min(), band.high.max()) == (0, pytest.approx(1 / 3 + 3**-0.5))
    assert curves(study, wild, "eu")[0, 0].low.min() < 0  # a utility may be negative


def test_only_steps_that_all_seeds_have_are_averaged(curves_of: Any) -> None:
    study, frame = curves_of()
    short = frame[~((frame["run_id"] == study.run_ids[0, 0, 1]) & (frame["iteration"] > 11))]
    assert [len(curves(study, short, "hv")[0, p].steps) for p in (0, None)] == [12, 12]
    assert len(curves(study, frame, "hv")[0, 0].steps) == 20


def test_one_seed_has_no_band_and_missing_columns_no_curve(curves_of: Any) -> None:
    study, frame = curves_of(seeds=1, preferences=((0.5, 0.5),), env="toy")
    assert [curves(study, frame, "hv")[0, p].low for p in (0, None)] == [None, None]
    assert curves(study, frame, "nothing") == curves(study, frame.iloc[:0], "hv") == {}


def test_iterations_without_validation_are_skipped_and_long_curves_are_thinned(curves_of: Any) -> None:
    study, frame = curves_of(seeds=1, iterations=400)
    frame.loc[frame["iteration"] % 2 == 0, "hv"] = np.nan
    band = curves(study, frame, "hv")[0, 0]
    assert (len(band.steps), band.steps[-1]) == (MAX_POINTS, 2048 * 400)
    assert np.isfinite(band.mean).all()


def test_chosen_columns_give_the_same_curves(make_store: MakeStore) -> None:
    store = make_store()
    whole, few = (load_results(store, history=True, columns=c) for c in (None, history_columns(store.manifest)))
    assert len(few.history.columns) < len(whole.history.columns)
    pairs = [(one.studies[0], training_frame(one.studies[0], one.history)) for one in (whole, few)]
    for column in ("mu", "conflict", "hv"):
        first, second = (curves(*pair, column)[0, None].mean for pair in pairs)
        np.testing.assert_array_equal(first, second)


def test_of_many_dominated_runs_few_are_drawn(make_study: MakeStudy) -> None:
    study = make_study()
    with patch.object(traces, "MAX_DOMINATED", 1):
        few = traces.run_points(study)
    every = traces.run_points(study)
    for (_, returns, labels, best), (_, _, _, all_best) in zip(few, every, strict=True):
        assert (best == 0).sum() == min(1, (all_best == 0).sum())
        assert best.sum() == all_best.sum()
        assert len(returns) == len(labels) == len(best)
    assert sum(len(one[1]) for one in few) < sum(len(one[1]) for one in every)


THREE = {"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]}


def _traces(figure: Any, role: str) -> dict[str, Any]:
    return {t["name"].removesuffix(", paper"): t for t in figure["data"] if t["meta"]["role"] == role}


def test_every_method_stands_with_its_interval_and_the_papers_difference(make_store: MakeStore) -> None:
    store = make_store(methods=THREE, seeds=5)
    (study,), (other,) = (load_results(store, against=row).studies for row in (None, "Linear"))
    assert set(_traces(against(other), "interval")) == {"PASTA (Ours)", "Tchebycheff"}
    assert _traces(against(other), "paper")["PASTA (Ours)"]["x"] == [pytest.approx(0.291 - 0.199)]
    assert against(other)["layout"]["xaxis"]["title"]["text"] == "hypervolume minus Linear's"
    figure = against(study)
    ours, printed = _traces(figure, "interval"), _traces(figure, "paper")
    assert list(ours) == ["Tchebycheff", "Linear"]
    assert printed["Linear"]["x"] == [pytest.approx(0.199 - 0.291)]
    assert printed["Tchebycheff"]["x"] == [pytest.approx(0.122 - 0.291)]
    for row in study_statistics(study):
        if row.against is not None:
            trace = ours[row.method]
            (estimate,), ends = trace["x"], trace["error_x"]
            found = (estimate, estimate - ends["arrayminus"][0], estimate + ends["array"][0])
            assert found == pytest.approx(row.against.difference, abs=1e-5)
            assert trace["meta"]["apart"] == (row.against.verdict != "not distinguishable")


def test_incomplete_method_shows_its_runs_and_one_seed_is_left_out(make_study: MakeStudy) -> None:
    skip = frozenset({("Linear", 0, 1), *(("Tchebycheff", p, s) for p in (0, 1) for s in (1, 2))})
    study = make_study(methods=THREE, skip=skip)
    assert "needs two seeds" in against(replace(study, hv=study.hv[..., :1]))["gap"]
    ours = _traces(against(study), "interval")
    assert list(ours) == ["Linear"]  # no interval without two seeds
    assert ours["Linear"]["y"][0].startswith("Linear (5 of 6)  <b>")


NAMES = {"hypervolume", "against", "training", "radar", "front", "controller", "profiles"}


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_every_figure_is_written(make_store: MakeStore, tmp_path: Path, objectives: int) -> None:
    weights = tuple([1 / objectives] * objectives)
    store = make_store(preferences=(weights,), seeds=2, iterations=4, env="toy")
    formats = ("png", "pdf") if objectives == 3 else ("png",)
    paths = write_figures(store, tmp_path / "figures", formats=formats)
    names = NAMES | ({"front_3d"} if objectives == 3 else set())
    assert {path.name for path in paths} == {f"toy-baselines_{name}.{form}" for name in names for form in formats}
    for path in paths:
        assert path.read_bytes()[:4] == (b"\x89PNG" if path.suffix == ".png" else b"%PDF")
        assert path.stat().st_size > 4000


def test_figures_that_cannot_be_drawn_say_why(make_store: MakeStore, tmp_path: Path) -> None:
    sweep = {"methods": {"p": ["PASTA"]}, "bounds": False, "preferences": ((0.5, 0.5),), "env": "toy"}
    paths = write_figures(make_store(**sweep, seeds=1, iterations=3), tmp_path, formats=["svg"])
    assert {path.stem.split("_", 1)[1] for path in paths} == NAMES
    assert all("<svg" in path.read_text() for path in paths)
    with pytest.raises(ValueError, match=r"`formats` must be some of 'png', 'pdf', 'svg', got \('gif',\)"):
        write_figures("nowhere", tmp_path, formats=("gif",))


METHODS = ("PASTA (Ours)", *(f"M{i}" for i in range(8)))


def linear(colour: str, eye: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return a colour in linear light, as an eye sees it."""
    screen = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    screen = screen if eye is None else np.clip(eye @ screen, 0, 1)
    return np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """Return the contrast of WCAG."""
    low, high = sorted(linear(colour) @ (0.2126, 0.7152, 0.0722) for colour in (first, second))
    return float((high + 0.05) / (low + 0.05))


# Machado, Oliveira and Fernandes (2009), full severity; OKLab is Ottosson (2020).
MATRICES = """
1 0 0 0 1 0 0 0 1
0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998
0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881
1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900
0.4122215 0.5363325 0.0514460 0.2119035 0.6806995 0.1073970 0.0883025 0.2817188 0.6299787
0.2104543 0.7936178 -0.0040720 1.9779985 -2.4285922 0.4505937 0.0259040 0.7827718 -0.8086758
"""
*FOUR, LMS, LAB = (np.array(line.split(), float).reshape(3, 3) for line in MATRICES.strip().splitlines())
EYES = dict(zip(("normal", "protan", "deutan", "tritan"), FOUR, strict=True))


def test_methods_stand_out_from_the_page_and_differ_without_colour() -> None:
    looks = styles(METHODS)
    assert min(contrast(style.light, LIGHT_BACKGROUND) for style in looks) >= 3
    assert min(contrast(style.dark, DARK_BACKGROUND) for style in looks) >= 3
    assert len({(style.dash, style.symbol, style.hatch) for style in looks}) == len(looks)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_colours_stay_apart_for_all_eyes(theme: str, eye: str) -> None:
    seen = [LAB @ np.cbrt(LMS @ linear(getattr(style, theme), EYES[eye])) for style in styles(METHODS)]
    assert min(np.linalg.norm(first - second) for first, second in combinations(seen, 2)) > 0.09


def test_pasta_always_looks_the_same() -> None:
    assert styles(("z=1.0", "PASTA (Ours)"))[1] == styles(("PASTA (Ours)", "Linear"))[0]
    assert len(styles(tuple(f"M{i}" for i in range(40)))) == 40
