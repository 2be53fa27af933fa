"""Figures of the report: curves with bands, differences, points and looks."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from morl_recipes.analysis.report import points
from morl_recipes.analysis.report.against import against
from morl_recipes.analysis.report.figures import write_figures
from morl_recipes.analysis.report.series import MAX_POINTS, curves, history_columns, training_frame
from morl_recipes.analysis.report.style import DARK_BACKGROUND, LIGHT_BACKGROUND, styles
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.statistics import study_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
MakeStudy = Callable[..., Study]


def test_bands_are_one_standard_deviation_over_seeds(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    band = curves(study, training_frame(study, results.history), "eu")[1, 0]
    frame = results.history
    rows = frame[(frame["method"] == "Linear") & (frame["preference"] == study.preferences[0])]
    table = rows.pivot(index="steps", columns="seed", values="eu").to_numpy()
    np.testing.assert_allclose(band.mean, table.mean(1))
    assert band.high is not None
    assert band.low is not None
    np.testing.assert_allclose(band.high, table.mean(1) + table.std(1, ddof=1))
    np.testing.assert_allclose(band.low, table.mean(1) - table.std(1, ddof=1))


def test_the_band_of_all_preferences_is_over_preferences(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    series = curves(study, training_frame(study, results.history), "hv")
    means = np.stack([series[0, 0].mean, series[0, 1].mean])
    whole = series[0, None]
    np.testing.assert_allclose(whole.mean, means.mean(0))
    assert whole.high is not None
    np.testing.assert_allclose(whole.high - whole.mean, means.std(0, ddof=1))


def test_band_is_clipped_to_the_limits_of_its_score(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    wild = frame.assign(hv=[0.0, 1.0] * (len(frame) // 2), eu=[-5.0, 5.0] * (len(frame) // 2))
    wild["hv"] = np.where(wild["run_id"] == study.run_ids[0, 0, 0], 1.0, 0.0)
    band = curves(study, wild, "hv")[0, 0]
    assert band.low is not None
    assert band.high is not None
    assert band.low.min() == 0
    assert band.high.max() <= 1
    utility = curves(study, wild, "eu")[0, 0]
    assert utility.low is not None
    assert utility.low.min() < 0  # a utility may be negative


def test_only_steps_that_all_seeds_have_are_averaged(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    short = frame[~((frame["run_id"] == study.run_ids[0, 0, 1]) & (frame["iteration"] > 11))]
    assert len(curves(study, short, "hv")[0, 0].steps) == 12
    assert len(curves(study, short, "hv")[0, None].steps) == 12
    assert len(curves(study, frame, "hv")[0, 0].steps) == 20


def test_one_seed_has_no_band_and_missing_columns_no_curve(make_store: MakeStore) -> None:
    results = load_results(make_store(seeds=1, preferences=((0.5, 0.5),), env="toy"), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    assert curves(study, frame, "hv")[0, 0].low is None
    assert curves(study, frame, "hv")[0, None].low is None
    assert curves(study, frame, "nothing") == {}
    assert curves(study, training_frame(study, results.history.iloc[:0]), "hv") == {}


def test_iterations_without_validation_are_skipped_and_long_curves_are_thinned(make_store: MakeStore) -> None:
    results = load_results(make_store(seeds=1, iterations=400), history=True)
    (study,) = results.studies
    history = results.history.copy()
    history.loc[history["iteration"] % 2 == 0, ["return_0", "return_1", "return_2"]] = np.nan
    series = curves(study, training_frame(study, history), "hv")
    assert len(series[0, 0].steps) == MAX_POINTS
    assert series[0, 0].steps[-1] == 2048 * 400
    assert np.isfinite(series[0, 0].mean).all()


def test_chosen_columns_give_the_same_curves(make_store: MakeStore) -> None:
    store = make_store()
    whole, chosen = (
        load_results(store, history=True, columns=columns) for columns in (None, history_columns(store.manifest))
    )
    assert len(chosen.history.columns) < len(whole.history.columns)
    for column in ("mu", "conflict", "hv"):
        found = [
            curves(one.studies[0], training_frame(one.studies[0], one.history), column)[0, None]
            for one in (whole, chosen)
        ]
        np.testing.assert_array_equal(found[0].mean, found[1].mean)


def test_of_many_dominated_runs_few_are_drawn(make_study: MakeStudy) -> None:
    study = make_study()
    with patch.object(points, "MAX_DOMINATED", 1):
        few = points.run_points(study)
    every = points.run_points(study)
    for (_, returns, labels, best), (_, _, _, all_best) in zip(few, every, strict=True):
        assert (best == 0).sum() == min(1, (all_best == 0).sum())
        assert best.sum() == all_best.sum()
        assert len(returns) == len(labels) == len(best)
    assert sum(len(one[1]) for one in few) < sum(len(one[1]) for one in every)


THREE = {"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]}


def _traces(figure: Any, role: str) -> dict[str, Any]:
    return {t["name"].removesuffix(", paper"): t for t in figure["data"] if t["meta"]["role"] == role}


def test_every_method_stands_with_its_interval_and_the_papers_difference(make_study: MakeStudy) -> None:
    study = make_study(methods=THREE, seeds=5)
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


def test_another_row_can_be_the_one_to_compare_with(make_store: MakeStore) -> None:
    (study,) = load_results(make_store(methods=THREE), against="Linear").studies
    figure = against(study)
    assert set(_traces(figure, "interval")) == {"PASTA (Ours)", "Tchebycheff"}
    assert _traces(figure, "paper")["PASTA (Ours)"]["x"] == [pytest.approx(0.291 - 0.199)]
    assert figure["layout"]["xaxis"]["title"]["text"] == "hypervolume minus Linear's"


def test_incomplete_method_shows_its_runs_and_one_seed_is_left_out(make_study: MakeStudy) -> None:
    skip = frozenset({("Linear", 0, 1), *(("Tchebycheff", p, s) for p in (0, 1) for s in (1, 2))})
    study = make_study(methods=THREE, skip=skip)
    ours = _traces(against(study), "interval")
    assert list(ours) == ["Linear"]
    assert ours["Linear"]["y"][0].startswith("Linear (5 of 6)  <b>")


def test_missing_data_gives_the_reason_instead_of_a_figure(make_study: MakeStudy) -> None:
    study = make_study(seeds=1)
    assert "needs two seeds" in against(study)["gap"]


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
    paths = write_figures(
        make_store(methods={"p": ["PASTA"]}, bounds=False, seeds=1, iterations=3, preferences=((0.5, 0.5),), env="toy"),
        tmp_path,
        formats=["svg"],
    )
    texts = {path.stem.split("_", 1)[1]: path.read_text() for path in paths}
    assert set(texts) == NAMES
    assert all("<svg" in text for text in texts.values())


def test_unknown_formats_raise(make_store: MakeStore, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`formats` must be some of 'png', 'pdf', 'svg', got \('gif',\)"):
        write_figures(make_store(), tmp_path, formats=("gif",))


METHODS = ("PASTA (Ours)", *(f"M{i}" for i in range(8)))


def channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


# Machado, Oliveira and Fernandes (2009), full severity; OKLab is Ottosson (2020).
EYES = {
    "normal": np.eye(3),
    "protan": np.array(
        [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)]
    ),
    "deutan": np.array(
        [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)]
    ),
    "tritan": np.array(
        [(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)]
    ),
}
LMS = np.array(
    [(0.4122215, 0.5363325, 0.0514460), (0.2119035, 0.6806995, 0.1073970), (0.0883025, 0.2817188, 0.6299787)]
)
LAB = np.array(
    [(0.2104543, 0.7936178, -0.0040720), (1.9779985, -2.4285922, 0.4505937), (0.0259040, 0.7827718, -0.8086758)]
)


def seen(colour: str, eye: str) -> NDArray[np.float64]:
    screen = np.clip(EYES[eye] @ channels(colour), 0, 1)
    linear = np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)
    return np.asarray(LAB @ np.cbrt(LMS @ linear))


@pytest.mark.parametrize("style", styles(METHODS))
def test_colours_stand_out_from_both_pages(style: object) -> None:
    assert contrast(style.light, LIGHT_BACKGROUND) >= 3  # type: ignore[attr-defined]
    assert contrast(style.dark, DARK_BACKGROUND) >= 3  # type: ignore[attr-defined]


def test_looks_differ_without_colour() -> None:
    looks = [(style.dash, style.symbol, style.hatch) for style in styles(METHODS)]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_colours_stay_apart_for_all_eyes(theme: str, eye: str) -> None:
    for first, second in combinations([getattr(style, theme) for style in styles(METHODS)], 2):
        assert np.linalg.norm(seen(first, eye) - seen(second, eye)) > 0.09


def test_pasta_always_looks_the_same() -> None:
    assert styles(("z=1.0", "PASTA (Ours)"))[1] == styles(("PASTA (Ours)", "Linear"))[0]
    assert len(styles(tuple(f"M{i}" for i in range(40)))) == 40
