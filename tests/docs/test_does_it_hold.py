"""The page "Does it hold?" is what the datasets say: made anew it is the same, and its numbers come out by hand."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from benchmarks.claims.claims import CLAIMS, Claim
from benchmarks.claims.page import page, sections_of
from benchmarks.claims.repeat import REPEAT
from benchmarks.claims.section import Section
from benchmarks.claims.share import lead_share
from benchmarks.claims.write import BEGIN, PAGE, datasets_of_package, with_lines
from morl_blocks.metrics import detectable_difference
from morl_recipes import published
from morl_recipes.analysis.datasets import find_dataset

ROOT = Path(__file__).parents[2]
Array = NDArray[np.float64]
NUMBER = r"([+-]\d+\.\d+)"
STEP = re.compile(rf"{NUMBER} \[{NUMBER}, {NUMBER}\]")
PAIR = re.compile(r"(?:([^\s,:\]%][^,:\]%]*?) )?over ([^:]+?)(?:: .*| \(\d+ of \d+ rows\))?$")
SHARE = r"((?:above |below )?-?\d+)"
SHARES = re.compile(rf"{SHARE} % \[{SHARE}, {SHARE}\]")
LABELS = {"HV": "hv", "EU": "eu"}
READINGS = {"By best validations": "peak", "By last policies": "test_final"}
VERDICT = ("Verdict", "Verdict by {}")
CLAIM = "Claim of the paper"
UNTRAINED = "not trained at full length yet"
TWINS = {"mu=10.0": "No Decay", "No Decay": "mu=10.0"}
NAMES = [name for name in published() if not name.endswith(REPEAT)]
REPEATED = [name for name in NAMES if name + REPEAT in published()]
Line = dict[str, str]


@cache
def _text() -> str:
    return (ROOT / PAGE).read_text()


@cache
def _sections() -> list[Section]:
    return sections_of(datasets_of_package())


def _tables(heading: str) -> Iterator[tuple[str, list[Line]]]:
    """Yield the tables below a heading: their own heading, and their lines by column."""
    block = _text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    for part in block.split("\n### "):
        for found in re.finditer(r"(?:^\|.*\n?)+", part, re.MULTILINE):
            rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in found.group().splitlines()]
            yield part.partition("\n")[0], [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def _lines(name: str, column: str) -> list[tuple[str, Line]]:
    """Return the lines of a dataset's tables that have a column, each with its heading."""
    title = next(one.title for one in _sections() if one.dataset.name == name)
    return [(where, line) for where, lines in _tables(title) for line in lines if column in line]


def _by_label(line: Line, single: str, several: str) -> dict[str, str]:
    """Return the cells of a column that there is once, or once per score."""
    return {"HV": line[single]} if single in line else {label: line[several.format(label)] for label in LABELS}


@cache
def _frame(name: str) -> pd.DataFrame:
    return published(name)


def _values(name: str, env: str, method: str | None, score: str = "test_peak_hv") -> Array:
    """Return the scores of a row, ``[preferences, seeds]``, straight from the dataset."""
    frame = _frame(name)
    label = "PASTA (Ours)" if method in (None, "", "PASTA") else str(method)
    rows = frame[(frame["env"] == env) & frame["method"].isin([label, TWINS.get(label, label)])]
    rows = rows[rows["group"] == rows["group"].iloc[0]]  # PASTA may have been trained for several groups
    return np.asarray(rows.pivot(index="preference", columns="seed", values=score), dtype=np.float64)


def _by_hand(first: Array, second: Array, *, among: int = 1) -> tuple[float, float, float]:
    """Compare seed by seed: the mean over preferences, and Student's interval over seeds, of one lead among several."""
    gaps = (first - second).mean(0)
    reach = stats.t.ppf(1 - 0.025 / among, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    return gaps.mean(), gaps.mean() - reach, gaps.mean() + reach


def _require(cell: str, expected: Sequence[float]) -> None:
    """Require that a cell prints a difference with its interval, to the digits that it shows."""
    found = STEP.search(cell)
    assert found is not None, cell
    half = 0.6 * 10.0 ** -len(found.group(1).partition(".")[2])
    assert [float(number) for number in found.groups()] == pytest.approx(expected, abs=half), cell


def _pair(cell: str) -> tuple[str | None, str]:
    found = PAIR.search(cell)
    assert found is not None, cell
    return found.group(1), found.group(2)


def _claim(text: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.text == text)


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
def test_every_difference_comes_out_by_hand(name: str) -> None:
    """Of leads, of leads by other policies, of ingredients and of readings."""
    first = next(iter(_frame(name)["env"]))
    for where, line in [found for column in (CLAIM, "with", "Reading") for found in _lines(name, column)]:
        env = _claim(line[CLAIM]).env if CLAIM in line else where.partition(", ")[2] or first
        for column, cell in line.items():
            head, label = column.partition(", ")[0], "EU" if "EU" in column else "HV"
            if STEP.search(cell) and head != "Its smallest lead":
                rows = (
                    _pair(cell)
                    if CLAIM in line
                    else (line.get("with") or line["Reading"], line.get("without", "PASTA"))
                )
                score = f"{READINGS.get(head, 'test_peak')}_{LABELS[label]}"
                _require(cell, _by_hand(*(_values(name, env, row, score) for row in rows)))
        if line.get("share of the HV lead", "—") != "—":
            pairs = ((line["with"], line["without"]), ("PASTA", "Linear"))
            parts = [_by_hand(*(_values(name, env, row) for row in pair))[0] for pair in pairs]
            assert _is_share(line["share of the HV lead"].removesuffix(" %"), parts[0] / parts[1]), line


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_comes_out_by_hand(name: str) -> None:
    lines = [line for _, line in _lines(name, "Its smallest lead, as printed")]
    for line in lines:
        claim = _claim(line[CLAIM])
        leads = _by_label(line, "Here, the lead that decides", "{}: the lead that decides")
        counts, verdicts = (_by_label(line, *heads) for heads in (("Leads above 0", "{} leads above 0"), VERDICT))
        for label, cell in leads.items():
            verdict = verdicts[label].strip("*")
            if claim.at_full_length and (waiting := _rows(name, claim))[0] < waiting[1]:
                assert (cell, verdict) == ("{} of {} rows trained".format(*waiting), UNTRAINED), line
                continue
            first, second = (_values(name, claim.env, row, f"test_peak_{LABELS[label]}") for row in _pair(cell))
            lead, low, _ = _by_hand(first, second)
            level = re.search(r" of (\d+\.\d+), ", cell)
            assert level is not None
            assert float(level.group(1)) == pytest.approx(second.mean(), abs=6e-4 if label == "HV" else 6e-3), line
            assert label == "EU" or _is_share(cell.partition("], ")[2].partition(" %")[0], lead / second.mean())
            above, among = map(int, counts[label].split(" of "))
            if claim.text.startswith("PASTA beats all baselines"):
                score = f"test_peak_{LABELS[label]}"
                rivals = [_values(name, claim.env, one, score) for one in _rivals(name, claim.env)]
                assert above == sum(_by_hand(first, rival)[1] > 0 for rival in rivals), line
                assert among == len(rivals), line
            reversed_ = _by_hand(first, second, among=among)[2] < 0
            assert (verdict == "reversed") == reversed_, line
            assert (verdict == "cannot be told apart") == (low <= 0 and not reversed_), line
    assert lines or not any(one.judged for one in next(s for s in _sections() if s.dataset.name == name).findings)


def _rivals(name: str, env: str) -> list[str]:
    frame = _frame(name)
    return sorted({*frame.loc[(frame["env"] == env) & (frame["group"] == "baselines"), "method"]} - {"PASTA (Ours)"})


def _rows(name: str, claim: Claim) -> tuple[int, int]:
    """Return how many rows of a claim have all their runs, and how many are planned."""
    planned = [(r.group, r.method) for r in find_dataset(name).manifest.runs if r.env == claim.env]
    done = _frame(name)[_frame(name)["env"] == claim.env].groupby(["group", "method"]).size()
    rows = {(row.group, row.method) for row in claim.members} & set(planned)
    return sum(done.get(row, 0) == planned.count(row) for row in rows), len(rows)


def _is_share(printed: str, share: float) -> bool:
    """Tell whether whole per cent, or a bound on them, are those of a share."""
    *bound, number = printed.split()
    beyond = {"above": 100 * share > int(number), "below": 100 * share < int(number)}
    return beyond[bound[0]] if bound else abs(int(number) - 100 * share) < 0.6


def test_every_claim_in_one_line_comes_out_by_hand() -> None:
    lines = {line[CLAIM]: line for _, table in _tables("Every claim") for line in table}
    assert list(lines) == [claim.text for claim in CLAIMS]
    for claim in CLAIMS:
        line, full = lines[claim.text], claim.at_full_length
        steps = line.get("Steps", "999,424")
        (name,) = (one.dataset.name for one in _sections() if f"{one.steps.get(claim.env, 0):,}" == steps)
        details = {where: one for where, one in _lines(name, CLAIM) if claim.text in one.values()}
        detail, other = details.get("", {}), details.get("By other policies of the same runs", {})
        if UNTRAINED in "".join(line.values()):
            assert _rows(name, claim)[0] < _rows(name, claim)[1]
            continue
        for label in LABELS if full else ("HV",):
            verdict = line[f"Verdict by {label}" if full else "Verdict"]
            assert verdict == _by_label(detail, *VERDICT)[label]
            ours = line[f"Our lead in {label}" if full else "Our lead"]
            pair = [_values(name, claim.env, row, f"test_peak_{LABELS[label]}") for row in _pair(ours)]
            if label == "EU":
                _require(ours, _by_hand(*pair))
                continue
            printed = SHARES.match(ours)
            assert printed is not None, ours
            assert all(map(_is_share, printed.groups(), lead_share(pair[0], pair[1]))), ours
            for head in READINGS:
                cell = other[f"{head}, HV" if full else head].rpartition(": ")[2]
                said = head.lower() in line["Otherwise"].partition("EU ")[0]
                assert (cell != verdict.strip("*")) == said, line


@pytest.mark.parametrize("name", REPEATED)
def test_a_repeat_comes_out_by_hand(name: str) -> None:
    luck = []
    for column, heads in (("Row", ("published", "repeat")), ("Lead of PASTA", ("published", "repeat"))):
        for _, line in _lines(name, column):
            *where, what = re.sub(", (HV|EU)$", "", line[column]).split(", ")
            score = f"test_peak_{LABELS['EU' if line[column].endswith(', EU') else 'HV']}"
            env, method = where[0] if where else _frame(name)["env"].iloc[0], re.split("/|over ", what)[-1]
            both = [[_values(one, env, row, score) for row in ("PASTA", method)] for one in (name, name + REPEAT)]
            lead = column == "Lead of PASTA"
            means = [(pair[0] - pair[1] if lead else pair[1]).mean(0) for pair in both]
            for seeds, head in zip(means, heads, strict=True):
                numbers = [float(number) for number in re.findall(r"[+-]?\d+\.\d+", line[head])]
                reach = stats.t.ppf(0.975, len(seeds) - 1) * stats.sem(seeds)
                expected = [seeds.mean(), seeds.mean() - reach, seeds.mean() + reach]
                shown = 3 if lead or len(both[0][0]) > 1 else 1  # one preference: longer on the side of the longer tail
                assert numbers[:shown] == pytest.approx(expected[:shown], abs=6e-3 if score.endswith("eu") else 6e-4)
            welch = stats.ttest_ind(means[1], means[0], equal_var=False)
            gap = means[1].mean() - means[0].mean()
            reach = stats.t.ppf(0.975, int(welch.df)) * gap / welch.statistic
            assert line["verdict"] == ("agrees" if gap - reach <= 0 <= gap + reach else "does not agree")
            if lead:
                whole = [np.concatenate(rows, axis=1) for rows in zip(*both, strict=True)]
                _require(line["all seeds together"], _by_hand(*whole))
                if score.endswith("hv"):
                    assert all(
                        map(_is_share, SHARES.findall(line["of the other row"])[0], lead_share(both[1][0], both[1][1]))
                    )
                luck.append(stats.pearsonr(*(row.mean(0) for row in whole)).statistic)
            else:
                _require(line["repeat minus published"], (gap, gap - reach, gap + reach))
    assert luck
    assert name != "stealth-200k" or f"have a correlation of {min(luck):.2f} or more." in " ".join(_text().split())


@pytest.mark.parametrize("name", NAMES)
def test_selection_bias_counts_and_power_come_out_by_hand(name: str) -> None:
    frame = _frame(name)
    for _, line in _lines(name, "selection bias, HV"):
        env, group = line["Table"].split(", ")
        others = frame[(frame["env"] == env) & (frame["group"] == group) & (frame["method"] != "PASTA (Ours)")]
        pasta = frame[(frame["env"] == env) & (frame["method"] == "PASTA (Ours)")]
        pasta = pasta[pasta["group"] == pasta["group"].iloc[0]]
        rows = pd.concat([pasta, others])
        if int(line["runs"]) != len(rows):  # a row that another group has trained under another name
            continue
        bias = (rows["peak_hv"] - rows["test_peak_hv"]).mean()
        assert float(line["selection bias, HV"].split()[0]) == pytest.approx(bias, abs=6e-4), line
        for label, score in LABELS.items():
            column = f"{label} difference to PASTA that would be seen"
            if column in line and set(others.groupby("method").size()) == {len(pasta)}:
                rivals = [_values(name, env, row, f"test_peak_{score}") for row in others["method"].unique()]
                ours = _values(name, env, "PASTA", f"test_peak_{score}")
                gaps = [(rival - ours).mean(0) for rival in rivals]
                expected = np.median([detectable_difference(stats.sem(gap), len(gap) - 1) for gap in gaps])
                assert float(line[column]) == pytest.approx(expected, abs=6e-4 if label == "HV" else 6e-3), line
