"""What the page says about one dataset."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from benchmarks.claims.course import Course, courses_of
from benchmarks.claims.findings import Finding, Lead, find_lead
from benchmarks.claims.ingredients import CHAIN, LINEAR, SINGLE, Ingredient, measure
from benchmarks.claims.judgement import JUDGED_BY, Judgement, scores_of
from benchmarks.claims.rows import PASTA, Row, Rows
from benchmarks.claims.words import digits_of, items, listed, paragraph, per_cent, signed, table, unsigned
from benchmarks.curves import learning_curves
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import detectable, identical_methods, study_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.cells import GAP
from morl_recipes.common.naming import count
from morl_recipes.common.scores import HYPERVOLUME, UTILITY, Score
from morl_recipes.recipe.paper import REFERENCE

MISSING = "**not trained here**"
LITTLE = 0.1
"""Where the best row scores less, of 1, the page says how far from the bounds it is."""


@dataclass(frozen=True)
class Section:
    """One dataset with everything that is computed from it.

    Attributes:
        dataset: The dataset.
        results: Its runs by environment and group, test scores.
        judgements: What hypervolume says of the claims and, at full length, the expected utility.
        repeat: Some of its rows on other seeds, where they were trained.
        curves: The validations of its runs, as :func:`benchmarks.curves.learning_curves` returns them.
    """

    dataset: Dataset
    results: Results
    judgements: tuple[Judgement, ...]
    repeat: Dataset | None = None
    curves: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)

    @classmethod
    def of(cls, dataset: Dataset, repeat: Dataset | None = None, curves: pd.DataFrame | None = None) -> "Section":
        """Judge every claim about the environments of a dataset; its repeat judges nothing."""
        every = {reading: load_results(dataset, score=reading) for reading in JUDGED_BY}
        judgements = tuple(Judgement.of(dataset, score, every) for score in scores_of(dataset))
        found = learning_curves(dataset) if curves is None else curves
        return cls(dataset, every["test"], judgements, repeat, found)

    @property
    def rows(self) -> dict[str, Rows]:
        """Return all rows by environment, for hypervolumes."""
        return dict(self.judgements[0].rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the claims about its environments, by hypervolume."""
        return self.judgements[0].findings

    @cached_property
    def courses(self) -> tuple[tuple[Course, ...], ...]:
        """Return the claims along the training, ``[judgements, claims]``."""
        return courses_of(self.dataset, self.curves)

    @property
    def steps(self) -> dict[str, int]:
        """Return the steps of each environment's runs."""
        return {run.env: run.steps for run in self.dataset.manifest.runs}

    @property
    def complete_rows(self) -> set[tuple[str, Row]]:
        """Return the rows that are fully trained, with their environments."""
        rows = {(run.env, Row(run.group, run.method)) for run in self.dataset.manifest.runs}
        return {(env, row) for env, row in rows if self.rows[env].complete(row)}

    @property
    def title(self) -> str:
        """Name the environments and the steps: ``formation and frogger, 200,704 steps``."""
        envs: dict[int, list[str]] = {}
        for env, steps in self.steps.items():
            envs.setdefault(steps, []).append(env)
        return "; ".join(f"{listed(names)}, {steps:,} steps" for steps, names in envs.items())


def picture_name(section: Section, study: Study) -> str:
    """Return the file name of a study's picture."""
    return f"{section.dataset.name}_{study.key}.png"


def facts(section: Section) -> str:
    """Say how much was trained, and at which commits."""
    runs, done = section.dataset.manifest.runs, section.dataset.done
    rows, seeds = {(run.env, run.group, run.method) for run in runs}, {run.seed for run in runs}
    commits = sorted({commit[:12] for commit in done["commit"] if commit})
    whole = f"{len(section.complete_rows)} of {len(rows)} rows fully trained"
    said = [f"{len(done):,} of {len(runs):,} planned runs, {whole}, seeds {min(seeds)} to {max(seeds)}."]
    return paragraph(*said, *([f"Trained at commit {', '.join(commits)}."] if commits else []), *_early(section))


def little_learnt(section: Section) -> dict[str, float]:
    """Return the environments in which even the best row is close to 0, with its score."""
    best: dict[str, float] = {}
    for env, rows in section.rows.items():
        named = {Row(run.group, run.method) for run in section.dataset.manifest.runs if run.env == env}
        means = [rows.mean(row).estimate for row in named if rows.complete(row)]
        if means and rows.score is HYPERVOLUME and max(means) < LITTLE:
            best[env] = max(means)
    return best


def _early(section: Section) -> list[str]:
    best = [f"{score:.3f} on {env}" for env, score in little_learnt(section).items()]
    return [f"The best rows have an HV of {listed(best)}, of 1: far from what the bounds allow."] if best else []


def missing(section: Section) -> str | None:
    """Return the rows that are not fully trained, and environments without any run; ``None`` when all are."""
    gaps: dict[str, list[str]] = {}
    planned_rows = dict.fromkeys((run.env, run.group, run.method) for run in section.dataset.manifest.runs)
    begun = set(section.dataset.done["env"])
    for env, group, method in planned_rows:
        have, planned = section.rows[env].runs(Row(group, method))
        if env not in begun:
            gaps[env] = [f"no run yet, {count(sum(one == env for one, _, _ in planned_rows), 'row')} planned"]
        elif have < planned:
            gaps.setdefault(f"{env}, {group}", []).append(f"`{method} ({have} of {planned})`")
    rows = [[where, ", ".join(names)] for where, names in gaps.items()]
    return table(("Table", "Rows, with the runs that are there"), rows) if rows else None


def levels(section: Section) -> str:
    """Return the scores of the rows that are fully trained, where no claim is judged by them."""
    lines: dict[tuple[str, str], list[str]] = {}
    for study in section.results.studies:
        for row in study_statistics(study):
            if 0 < row.runs[0] == row.runs[1]:
                own = Row(study.group, row.method)
                others = [unsigned(j.rows[study.env].mean(own), digits_of(j.score)) for j in section.judgements[1:]]
                name = study.env, row.method
                lines[name] = [*name, unsigned(row.hv), unsigned(row.beside), *others]
    heads = ["Environment", "Row", "HV on fresh episodes", "HV, best validation"]
    return table([*heads, *(f"{j.score.label} on fresh episodes" for j in section.judgements[1:])], lines.values())


def ingredients(section: Section, env: str) -> str | None:
    """Return what lies between Linear and PASTA; ``None`` where the rows for it were not planned.

    Shares of a lead that may be nothing would have no bound, and are left out.
    """
    rows, labels = section.rows[env], [judgement.score.label for judgement in section.judgements]
    whole, chain = find_lead(rows, PASTA, LINEAR), measure(rows, CHAIN)
    if math.isnan(whole.ours.low) or len(chain) < len(CHAIN):
        return None
    steps = (*CHAIN, Ingredient("**PASTA's lead over Linear**", PASTA, LINEAR))
    lines = _measured(section, env, steps)
    heads = ["Step", "with", "without", *(f"{label} difference" for label in labels)]
    if _apart(whole):
        heads.append("share of the HV lead")
        lines = [[*line, _share(found, whole)] for line, (_, found) in zip(lines, measure(rows, steps), strict=True)]
    others = ["Difference between the rows", "with", "without", *(f"{label} with minus without" for label in labels)]
    return "\n\n".join(
        [
            paragraph("From Linear to PASTA in three steps. The differences add up to the lead."),
            table(heads, lines),
            paragraph("Other pairs of rows, with everything in which they differ:"),
            table(others, _measured(section, env, SINGLE)),
        ]
    )


def _measured(section: Section, env: str, steps: tuple[Ingredient, ...]) -> list[list[str]]:
    """Return a line per pair of rows: what differs, the rows, and the difference by each score."""
    by_score = [(measure(judgement.rows[env], steps), judgement.score) for judgement in section.judgements]
    found = [[_judged(lead, score) for _, lead in measured] for measured, score in by_score]
    return [[one.name, *lead.names, *cells] for (one, lead), *cells in zip(by_score[0][0], *found, strict=True)]


def _judged(lead: Lead, score: Score = HYPERVOLUME) -> str:
    if math.isnan(lead.ours.low):
        return MISSING
    return signed(lead.ours, digits_of(score)) + ("" if _apart(lead) else ", cannot be told apart")


def _apart(lead: Lead) -> bool:
    return lead.ours.low > 0 or lead.ours.high < 0


def _share(lead: Lead, whole: Lead) -> str:
    return GAP if math.isnan(lead.ours.low) else per_cent(lead.ours.estimate / whole.ours.estimate)


def readings(section: Section, env: str) -> str | None:
    """Return which other reading of the paper moves a result; ``None`` where none was trained."""
    study = section.rows[env].studies.get("readings")
    if study is None:
        return None
    lines = []
    for method in study.methods:
        if method != REFERENCE:
            lead = find_lead(section.rows[env], Row("readings", method), PASTA)
            lines.append([method, _judged(lead)])
    return table(("Reading", "HV minus PASTA's"), lines)


def same_results(section: Section) -> str | None:
    """Return the rows that came out the same; ``None`` where no two did."""
    groups = identical_methods(section.results.studies)
    said = (
        "The runs of these rows have the same returns for every preference and seed, to the last digit: their "
        "difference had no effect. They are one result, not several."
    )
    return "\n\n".join([paragraph(said), items(listed(methods) + "." for methods in groups)]) if groups else None


def seen(section: Section) -> str | None:
    """Return per table what could have been seen, and the selection bias; tables that hold PASTA alone are left out."""
    lines, utility = [], [judgement.rows for judgement in section.judgements if judgement.score is UTILITY]
    for study in section.results.studies:
        if study.usable.any((1, 2)).sum() < 2:
            continue
        bias, level, runs = study.bias
        gap = detectable(study_statistics(study))
        share = f" ({per_cent(bias / level)})" if level > 0 else ""
        lines.append(
            [
                f"{study.env}, {study.group}",
                str(int(study.usable.sum())),
                GAP if math.isnan(gap) else f"{gap:.3f}",
                f"{bias:+.3f}{share}" if runs else GAP,
                *(_utility_seen(rows[study.env], study) for rows in utility),
            ]
        )
    heads = ["Table", "runs", "HV difference to PASTA that would be seen", "selection bias, HV"]
    return table([*heads, *["EU difference to PASTA that would be seen"] * len(utility)], lines) if lines else None


def _utility_seen(rows: Rows, study: Study) -> str:
    others = [Row(study.group, method) for method in study.methods if method != REFERENCE]
    found = [one.detectable for one in (rows.compare(row, PASTA) for row in others) if one is not None]
    return f"{np.median(found):.{digits_of(UTILITY)}f}" if found else GAP
