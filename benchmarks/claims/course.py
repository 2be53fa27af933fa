"""Does a verdict still change at the end of the training? From the validations of runs that have learning curves."""

from dataclasses import dataclass, replace

import pandas as pd

from benchmarks.claims.findings import Finding, examine
from benchmarks.claims.judge import Verdict
from benchmarks.claims.judgement import claims_of, scores_of
from benchmarks.claims.rows import Rows
from benchmarks.claims.words import listed, per_cent
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import load_results

SHARES = (0.6, 0.8, 1.0)
"""Parts of the training after which the same claim is judged."""
RULE = (
    "A verdict may still change at the end of a training. So each claim is also judged by validations alone, after "
    f"{listed([per_cent(share) for share in SHARES])} of the steps.",
    "Each run then counts with its best validation so far. Only rows with learning curves are compared.",
    "If the three verdicts differ, the claim is *still changing*; otherwise it is *settled*.",
)


@dataclass(frozen=True)
class Course:
    """A claim along the training, by one score.

    Attributes:
        findings: What became of it after each part of the training; none without learning curves.
    """

    findings: tuple[Finding, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict after each part of the training; none where fewer than two of its rows have curves."""
        return tuple(one.decisive.verdict for one in self.findings if one.decisive is not None)

    @property
    def changes(self) -> bool:
        """Tell whether the verdicts differ."""
        return len(set(self.verdicts)) > 1

    @property
    def words(self) -> str:
        """Say whether the verdict still changes."""
        if not self.verdicts:
            return "no curves"
        if not self.changes:
            return f"settled: {self.verdicts[-1]}"
        said = [f"{verdict} at {per_cent(share)}" for share, verdict in zip(SHARES, self.verdicts, strict=True)]
        return f"**still changing**: {', '.join(said)}"


def best_so_far(dataset: Dataset, curves: pd.DataFrame, share: float) -> Dataset:
    """Return the runs with a curve as if the training had ended earlier, each with its best validation until then.

    The best one has the most hypervolume, or the most expected utility without bounds: what a training keeps.
    """
    done = dataset.done.set_index("run_id", drop=False)
    early = curves[curves["steps"] <= share * curves["run_id"].map(done["steps"])]
    score = early["hv"].fillna(early["eu"])
    best = early.loc[score.groupby(early["run_id"]).idxmax()].set_index("run_id")
    runs = done[done["run_id"].isin(best.index)].reset_index(drop=True)
    names = [name for name in best.columns if name.startswith("return_")]
    seen = {name.replace("return", "peak"): best.loc[runs["run_id"], name].to_numpy() for name in names}
    return replace(dataset, runs=runs.assign(**seen))


def courses_of(dataset: Dataset, curves: pd.DataFrame) -> tuple[tuple[Course, ...], ...]:
    """Judge the claims about a dataset after each part of the training, ``[scores, claims]``."""
    claims = claims_of(dataset)
    if curves.empty:
        return tuple(tuple(Course() for _ in claims) for _ in scores_of(dataset))
    early = [load_results(best_so_far(dataset, curves, share), score="peak") for share in SHARES]
    return tuple(
        tuple(Course(tuple(examine(claim, Rows.of(one, claim.env, score)) for one in early)) for claim in claims)
        for score in scores_of(dataset)
    )
