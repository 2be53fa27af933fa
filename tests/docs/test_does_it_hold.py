"""The page "Does it hold?" is what the datasets say: made anew it is the same, and its numbers come out by hand."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats  # type: ignore[import-untyped]

from benchmarks.claims.claims import CLAIMS
from benchmarks.claims.page import REPEAT, page, sections_of
from benchmarks.claims.section import Section
from benchmarks.claims.write import BEGIN, PAGE, datasets_of_package, with_lines
from morl_recipes import published
from morl_recipes.recipe import paper

ROOT = Path(__file__).parents[2]
NUMBER = r"([+-]\d+\.\d{3})"
LEAD = re.compile(
    rf"{NUMBER} \[{NUMBER}, {NUMBER}\], ((?:above |below )?-?\d+) % of (\d\.\d+), (?:(.+) )?over (.+?)"
    r"(?: \(\d+ of \d+ rows\))?$"
)
SHARE = r"((?:above |below )?-?\d+)"
SHARES = re.compile(rf"{SHARE} % \[{SHARE}, {SHARE}\]")
OVERVIEW = re.compile(rf"{SHARES.pattern} (?:(.+) )?over (.+)$")
OTHER = re.compile(rf"{NUMBER} \[{NUMBER}, {NUMBER}\], (?:(.+) )?over (.+): ")
VERDICTS = ("holds", "weaker", "cannot be told apart", "reversed")
STEP = re.compile(rf"{NUMBER} \[{NUMBER}, {NUMBER}\](?:, cannot be told apart)?$")
TWINS = {"mu=10.0": "No Decay", "No Decay": "mu=10.0"}
NAMES = [name for name in published() if not name.endswith(REPEAT)]


def _text() -> str:
    return (ROOT / PAGE).read_text()


@cache
def _sections() -> list[Section]:
    return sections_of(datasets_of_package())


def _lines(name: str) -> list[list[str]]:
    """Return the cells of the tables in the section of one dataset."""
    return _cells(next(one.title for one in _sections() if one.dataset.name == name))


def _cells(heading: str) -> list[list[str]]:
    """Return the cells of the tables below a heading."""
    block = _text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines() if line[:2] == "| "]


@cache
def _frame(name: str) -> pd.DataFrame:
    return published(name)


def _values(name: str, env: str, method: str, score: str = "test_peak_hv") -> NDArray[np.float64]:
    """Return the scores of a row, ``[preferences, seeds]``, straight from the dataset."""
    frame = _frame(name)
    label = "PASTA (Ours)" if method in ("", "PASTA") else method
    rows = frame[(frame["env"] == env) & frame["method"].isin([label, TWINS.get(label, label)])]
    rows = rows[rows["group"] == rows["group"].iloc[0]]  # PASTA may have been trained for several groups
    return np.asarray(rows.pivot(index="preference", columns="seed", values=score), dtype=np.float64)


def _by_hand(first: NDArray[np.float64], second: NDArray[np.float64], *, among: int = 1) -> tuple[float, float, float]:
    """Compare seed by seed: the mean over preferences, and Student's interval over seeds, of one lead among several."""
    gaps = (first - second).mean(0)
    reach = stats.t.ppf(1 - 0.025 / among, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    return gaps.mean(), gaps.mean() - reach, gaps.mean() + reach


def _env(name: str, claim: str) -> str:
    _, on, env = claim.partition(" baselines on ")
    return env if on else next(iter(_frame(name)["env"]))


def test_the_page_and_the_readme_are_made_from_the_datasets() -> None:
    assert _text() == page(_sections(), "pictures/hold"), "run `python docs/make_does_it_hold.py`"
    readme = (ROOT / "README.md").read_text()
    assert BEGIN in readme
    assert readme == with_lines(readme, _sections()), "run `python docs/make_does_it_hold.py`"


def test_every_picture_is_there() -> None:
    shown = re.findall(r"\]\((pictures/hold/[^)]+)\)", _text())
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs/pictures/hold").glob("*.png")}
    assert there == set(shown)
    assert bool(shown) == bool(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_lead_comes_out_by_hand(name: str) -> None:
    checked = 0
    for cells in _lines(name):
        found = LEAD.match(cells[2]) if len(cells) == 5 else None
        if found is None:
            continue
        env = _env(name, cells[0])
        first, second = (_values(name, env, method or "") for method in found.group(6, 7))
        expected = _by_hand(first, second)
        assert [float(number) for number in found.group(1, 2, 3)] == pytest.approx(expected, abs=6e-4), cells
        assert _is_share(found.group(4), expected[0] / second.mean()), cells
        assert float(found.group(5)) == pytest.approx(second.mean(), abs=6e-4), cells
        above, among = map(int, cells[3].split(" of "))
        if "beats all baselines" in cells[0] and cells[0].startswith("PASTA"):
            rivals = sorted(set(_frame(name).query("group == 'baselines'")["method"]) - {"PASTA (Ours)"})
            leads = [_by_hand(first, _values(name, env, rival)) for rival in rivals]
            assert (above, among) == (sum(low > 0 for _, low, _ in leads), len(rivals)), cells
        reversed_ = _by_hand(first, second, among=among)[2] < 0
        verdict = cells[4].strip("*")
        assert (verdict == "reversed") == reversed_, cells
        assert (verdict == "cannot be told apart") == (expected[1] <= 0 and not reversed_), cells
        checked += 1
    assert checked == len(_judged(name))
    assert checked


def _judged(name: str) -> list[list[str]]:
    return [cells for cells in _lines(name) if len(cells) == 5 and cells[4].strip("*") in VERDICTS]


def _shares_by_hand(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float, float]:
    """Try every share of the second row's score by which the first may be ahead: none that a t-test rejects is out."""
    (a, b), tried = (first.mean(0), second.mean(0)), np.linspace(0.0, 20.0, 200_001)
    gaps = a - tried[:, None] * b
    limit = stats.t.ppf(0.975, len(a) - 1)
    kept = tried[np.abs(gaps.mean(1)) <= limit * stats.sem(gaps, axis=1)] - 1
    return a.mean() / b.mean() - 1, kept.min(), kept.max()


def _is_share(printed: str, share: float) -> bool:
    """Tell whether whole per cent, or a bound on them, are those of a share."""
    *bound, number = printed.split()
    beyond = {"above": 100 * share > int(number), "below": 100 * share < int(number)}
    return beyond[bound[0]] if bound else abs(int(number) - 100 * share) < 0.6


@pytest.mark.parametrize("name", NAMES)
def test_every_lead_by_other_policies_comes_out_by_hand(name: str) -> None:
    lines = [cells for cells in _lines(name) if len(cells) == 3 and OTHER.match(cells[1])]
    assert [cells[0] for cells in lines] == [cells[0] for cells in _judged(name)]
    for cells in lines:
        for cell, score in zip(cells[1:], ("peak_hv", "test_final_hv"), strict=True):
            other = OTHER.match(cell)
            assert other is not None, cells
            rows = (_values(name, _env(name, cells[0]), method or "", score) for method in other.group(4, 5))
            found = [float(number) for number in other.group(1, 2, 3)]
            assert found == pytest.approx(_by_hand(*rows), abs=6e-4), cells


def test_every_claim_in_one_line_comes_out_by_hand() -> None:
    lines = [cells for cells in _cells("Every claim") if cells[0] in {claim.text for claim in CLAIMS}]
    assert [cells[0] for cells in lines] == [claim.text for claim in CLAIMS]
    for claim, (text, verdict, ours, printed, steps, other) in zip(CLAIMS, lines, strict=True):
        (name,) = (one.dataset.name for one in _sections() if f"{one.steps.get(claim.env, 0):,}" == steps)
        found = OVERVIEW.match(ours)
        assert found is not None, ours
        expected = _shares_by_hand(*(_values(name, claim.env, method or "") for method in found.group(4, 5)))
        assert all(map(_is_share, found.group(1, 2, 3), expected)), text
        (detail,) = (cells for cells in _judged(name) if cells[0] == text)
        assert verdict == detail[4]
        assert _printed_share(claim.env, *found.group(4, 5)) == printed, text
        readings = next(cells[1:] for cells in _lines(name) if len(cells) == 3 and cells[0] == text)
        said = {
            where: one.partition(": ")[2] for one in other.split("; ") for where in one.partition(": ")[0].split(", ")
        }
        for where, cell in zip(("by best validations", "by last policies"), readings, strict=True):
            found_there = cell.rpartition(": ")[2]
            assert said.get(where, verdict.strip("*")) == found_there, text


def _printed_share(env: str, first: str | None, second: str) -> str:
    """Return the paper's lead of two rows in per cent, as the page prints it; its utopia table has no summary."""
    if env != "stealth":
        return "—"
    cells = paper.per_preference()
    means = cells[cells["env"] == env].groupby("method")["hv_mean"].mean().to_dict()
    means |= paper.summary().groupby("method")["hv_mean"].first().to_dict()
    ahead, behind = means[first or "PASTA (Ours)"], means[second]
    return f"{round(100 * (ahead - behind) / behind) + 0} %"


@pytest.mark.parametrize("name", NAMES)
def test_every_ingredient_and_reading_comes_out_by_hand(name: str) -> None:
    frame = _frame(name)
    env = next(iter(frame.loc[frame["group"].isin(["ours", "readings"]), "env"]), frame["env"].iloc[0])
    for cells in _lines(name):
        rows = cells[1:3] if len(cells) in (4, 5) else [cells[0], ""]
        found = STEP.match(cells[3] if len(cells) in (4, 5) else cells[1])
        if found is None or len(cells) not in (2, 4, 5) or "/" in cells[0] or cells[0].startswith("over "):
            continue  # no ingredient, or of the repeat
        expected = _by_hand(*(_values(name, env, method) for method in rows))
        assert [float(number) for number in found.groups()] == pytest.approx(expected, abs=6e-4), cells
        if len(cells) == 5 and cells[4].endswith("%"):
            lead = _by_hand(*(_values(name, env, method) for method in ("PASTA", "Linear")))[0]
            assert int(cells[4].removesuffix(" %")) == pytest.approx(100 * expected[0] / lead, abs=0.6), cells


@pytest.mark.parametrize("name", [name for name in NAMES if name + REPEAT in published()])
def test_the_leads_of_a_repeat_come_out_by_hand(name: str) -> None:
    lines = [cells for cells in _lines(name) if cells[0].startswith("over ")]
    assert lines
    luck = []
    for cells in lines:
        env, method = _frame(name)["env"].iloc[0], cells[0].removeprefix("over ")
        both = [[_values(one, env, row) for row in ("PASTA", method)] for one in (name, name + REPEAT)]
        both.append([np.concatenate(own, axis=1) for own in zip(*both, strict=True)])
        for cell, (first, second) in zip((cells[1], cells[2], cells[4]), both, strict=True):
            found = STEP.match(cell)
            assert found is not None, cells
            assert [float(number) for number in found.groups()] == pytest.approx(_by_hand(first, second), abs=6e-4), (
                cells
            )
        assert all(map(_is_share, SHARES.findall(cells[3])[0], _shares_by_hand(*both[1]))), cells
        luck.append(stats.pearsonr(*(row.mean(0) for row in both[2])).statistic)
    assert f"have a correlation of {min(luck):.2f} or more." in " ".join(_text().split())


@pytest.mark.parametrize("name", NAMES)
def test_selection_bias_counts_and_power_come_out_by_hand(name: str) -> None:
    frame = _frame(name)
    lines = {cells[0]: cells for cells in _lines(name) if re.fullmatch(r"\S+, \S+", cells[0]) and len(cells) == 4}
    assert lines
    for title, cells in lines.items():
        env, group = title.split(", ")
        others = frame[(frame["env"] == env) & (frame["group"] == group) & (frame["method"] != "PASTA (Ours)")]
        pasta = frame[(frame["env"] == env) & (frame["method"] == "PASTA (Ours)")]
        pasta = pasta[pasta["group"] == pasta["group"].iloc[0]]
        rows = pd.concat([pasta, others])
        if int(cells[1]) != len(rows):  # a row that another group has trained under another name
            continue
        bias = (rows["peak_hv"] - rows["test_peak_hv"]).mean()
        assert float(cells[3].split()[0]) == pytest.approx(bias, abs=6e-4), cells
        if len(others) and set(others.groupby("method").size()) == {len(pasta)}:
            gaps = [_values(name, env, method) - _values(name, env, "PASTA") for method in others["method"].unique()]
            expected = np.median([_detectable(gap.mean(0)) for gap in gaps])
            assert float(cells[2]) == pytest.approx(expected, abs=6e-4), cells


def _detectable(gaps: NDArray[np.float64]) -> float:
    """Return the difference that a t-test over these seeds would see in four of five repeats."""
    freedom = len(gaps) - 1
    limit = stats.t.ppf(0.975, freedom)
    shift = optimize.brentq(lambda delta: stats.nct.sf(limit, freedom, delta) - 0.8, 0.0, 50.0)
    return float(shift * stats.sem(gaps))


@pytest.mark.parametrize("name", [name for name in NAMES if f"{name}{REPEAT}" in published()])
def test_the_repeat_comes_out_by_hand(name: str) -> None:
    lines = [cells for cells in _lines(name) if len(cells) == 5 and "/" in cells[0]]
    assert lines
    for cells in lines:
        env, method = next(iter(_frame(name)["env"])), cells[0].partition("/")[2]
        first, second = (_values(one, env, method).mean(0) for one in (name, f"{name}{REPEAT}"))
        for seeds, cell in zip((first, second), cells[1:3], strict=True):
            reach = stats.t.ppf(0.975, len(seeds) - 1) * stats.sem(seeds)
            expected = (seeds.mean(), seeds.mean() - reach, seeds.mean() + reach)
            assert [float(number) for number in re.findall(r"[\d.]+", cell)] == pytest.approx(expected, abs=6e-4)
        welch = stats.ttest_ind(second, first, equal_var=False)
        gap = second.mean() - first.mean()
        reach = stats.t.ppf(0.975, int(welch.df)) * gap / welch.statistic
        numbers = [float(number) for number in re.findall(r"[+-][\d.]+", cells[3])]
        assert numbers == pytest.approx((gap, gap - reach, gap + reach), abs=6e-4)
        assert (cells[4] == "not distinguishable") == (gap - reach <= 0 <= gap + reach)
