"""What the page says about one dataset."""

import math
from dataclasses import dataclass

from benchmarks.claims.claims import CLAIMS
from benchmarks.claims.findings import Finding, Lead, examine, find_lead
from benchmarks.claims.ingredients import CHAIN, LINEAR, SINGLE, measure
from benchmarks.claims.rows import PASTA, Row, Rows
from benchmarks.claims.words import items, listed, paragraph, per_cent, signed, table, unsigned
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import detectable, identical_methods, study_statistics
from morl_recipes.analysis.results.study import Reading, Study
from morl_recipes.analysis.tables.cells import GAP
from morl_recipes.common.scores import HYPERVOLUME
from morl_recipes.recipe.paper import REFERENCE

MISSING = "**not trained here**"
JUDGED_BY: tuple[Reading, ...] = ("test", "peak", "test_final")
"""What counts, the paper's own reading, and the last policies."""
LITTLE = 0.1
"""Where the best row scores less, of 1, the page says that little was learnt."""


@dataclass(frozen=True)
class Section:
    """One dataset with everything that is computed from it.

    Attributes:
        dataset: The dataset.
        results: Its runs by environment and group, test scores.
        rows: All rows by environment.
        findings: The claims about its environments.
        by_peak: The same by best validations, which the paper reports.
        by_last: The same by the runs' last policies, on fresh episodes.
        repeat: Some of its rows on other seeds, where they were trained.
    """

    dataset: Dataset
    results: Results
    rows: dict[str, Rows]
    findings: tuple[Finding, ...]
    by_peak: tuple[Finding, ...]
    by_last: tuple[Finding, ...]
    repeat: Dataset | None = None

    @classmethod
    def of(cls, dataset: Dataset, repeat: Dataset | None = None) -> "Section":
        """Judge every claim about the environments of a dataset; its repeat judges nothing."""
        every = [load_results(dataset, score=score) for score in JUDGED_BY]
        rows = [{env: Rows.of(results, env) for env in dataset.manifest.environments} for results in every]
        test, peak, last = (
            tuple(examine(claim, one[claim.env]) for claim in CLAIMS if claim.env in one) for one in rows
        )
        return cls(dataset, every[0], rows[0], test, peak, last, repeat)

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
        for env, count in self.steps.items():
            envs.setdefault(count, []).append(env)
        return "; ".join(f"{listed(names)}, {count:,} steps" for count, names in envs.items())


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
    """Return the environments in which even the best row is close to 0, with its score: all differences are small."""
    best: dict[str, float] = {}
    for env, rows in section.rows.items():
        named = {Row(run.group, run.method) for run in section.dataset.manifest.runs if run.env == env}
        means = [rows.mean(row).estimate for row in named if rows.complete(row)]
        if means and rows.score is HYPERVOLUME and max(means) < LITTLE:
            best[env] = max(means)
    return best


def _early(section: Section) -> list[str]:
    best = [f"{score:.3f} on {env}" for env, score in little_learnt(section).items()]
    return [f"The best rows have an HV of {listed(best)}, of 1: little is learnt in so few steps."] if best else []


def missing(section: Section) -> str | None:
    """Return the rows that are not fully trained; ``None`` when all are."""
    gaps: dict[str, list[str]] = {}
    for env, group, method in dict.fromkeys((run.env, run.group, run.method) for run in section.dataset.manifest.runs):
        have, planned = section.rows[env].runs(Row(group, method))
        if have < planned:
            gaps.setdefault(f"{env}, {group}", []).append(f"`{method} ({have} of {planned})`")
    rows = [[where, ", ".join(names)] for where, names in gaps.items()]
    return table(("Table", "Rows, with the runs that are there"), rows) if rows else None


def levels(section: Section) -> str:
    """Return the scores of the rows that are fully trained, where there is nothing to compare them with."""
    lines: dict[tuple[str, str], list[str]] = {}
    for study in section.results.studies:
        for row in study_statistics(study):
            if 0 < row.runs[0] == row.runs[1]:
                lines[study.env, row.method] = [study.env, row.method, unsigned(row.hv), unsigned(row.beside)]
    return table(("Environment", "Row", "HV on fresh episodes", "HV, best validation"), lines.values())


def ingredients(section: Section, env: str) -> str | None:
    """Return what lies between Linear and PASTA; ``None`` where the rows for it were not planned.

    Shares of a lead that may be nothing would have no bound, and are left out.
    """
    rows = section.rows[env]
    whole, chain = find_lead(rows, PASTA, LINEAR), measure(rows, CHAIN)
    if math.isnan(whole.ours.low) or len(chain) < len(CHAIN):
        return None
    lines = [[one.name, *found.names, _judged(found), _share(found, whole)] for one, found in chain]
    lines.append(["**PASTA's lead over Linear**", *whole.names, _judged(whole), _share(whole, whole)])
    others = [[one.name, *found.names, _judged(found)] for one, found in measure(rows, SINGLE)]
    heads = ["Step", "with", "without", "difference", "share of the lead"]
    if not _apart(whole):
        heads, lines = heads[:-1], [line[:-1] for line in lines]
    return "\n\n".join(
        [
            paragraph("From Linear to PASTA in three steps. The differences add up to the lead."),
            table(heads, lines),
            paragraph("Other pairs of rows, with everything in which they differ:"),
            table(("Difference between the rows", "with", "without", "HV with minus without"), others),
        ]
    )


def _judged(lead: Lead) -> str:
    if math.isnan(lead.ours.low):
        return MISSING
    return signed(lead.ours) + ("" if _apart(lead) else ", cannot be told apart")


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


def seen(section: Section) -> str:
    """Return per table what could have been seen, and the selection bias; tables that hold PASTA alone are left out."""
    lines = []
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
            ]
        )
    return table(("Table", "runs", "HV difference to PASTA that would be seen", "selection bias, HV"), lines)
