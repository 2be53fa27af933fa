"""The paper's claims against datasets whose truth is known."""

import math

import pytest

from benchmarks.claims.claims import CLAIMS
from benchmarks.claims.findings import examine, find_lead
from benchmarks.claims.ingredients import CHAIN, LINEAR, SINGLE
from benchmarks.claims.judge import judge
from benchmarks.claims.rows import PASTA, Row, Rows
from morl_blocks.metrics import Interval
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import load_results
from morl_recipes.recipe.paper import REFERENCE, method_name
from morl_recipes.recipe.rows import ROWS
from tests.benchmarks.claims.made_up import made_up, noisy

BASELINES, BRAKE = CLAIMS[0], next(claim for claim in CLAIMS if "brake" in claim.text)


def _rows(dataset: Dataset) -> Rows:
    (env,) = dataset.manifest.environments
    return Rows.of(load_results(dataset, score="test"), env)


@pytest.mark.parametrize(
    ("lead", "printed", "verdict"),
    [
        (Interval(0.10, 0.05, 0.15), 0.5, "holds"),
        (Interval(0.10, 0.05, 0.15), 0.74, "holds"),
        (Interval(0.10, 0.05, 0.15), 0.76, "weaker"),
        (Interval(0.10, 0.05, 0.15), -0.1, "holds"),
        (Interval(0.10, 0.05, 0.15), math.nan, "holds"),
        (Interval(0.01, 0.00, 0.02), 0.5, "cannot be told apart"),
        (Interval(-0.01, -0.02, 0.01), 0.5, "cannot be told apart"),
        (Interval(-0.01, -0.02, -0.001), 0.5, "reversed"),
        (Interval(0.01, math.nan, math.nan), 0.5, "not trained here"),
    ],
)
def test_the_rule(lead: Interval, printed: float, verdict: str) -> None:
    share = Interval(*(number / 0.2 for number in lead))
    assert judge(lead, share, printed) == verdict


def test_one_of_many_leads_below_0_may_be_chance() -> None:
    below, share = Interval(-0.01, -0.02, -0.001), Interval(-0.05, -0.1, -0.005)
    assert judge(below, share, 0.5, worst=0.004) == "cannot be told apart"
    assert judge(below, share, 0.5, worst=-0.0005) == "reversed"
    rows = _rows(made_up(noisy({REFERENCE: 0.6, "Linear": 0.612, "STCH (1.0)": 0.5}), rows=["baselines"]))
    alone, among = (find_lead(rows, PASTA, LINEAR, among=count) for count in (1, 10**6))
    assert alone.ours == among.ours
    assert (alone.verdict, among.verdict) == ("reversed", "cannot be told apart")


def test_every_claim_is_about_rows_that_exist() -> None:
    known = {(group, method_name(name)) for group, rows in ROWS.items() for name in rows}
    named = {row for claim in CLAIMS for pair in claim.pairs for row in pair}
    named |= {row for one in (*CHAIN, *SINGLE) for row in (one.with_it, one.without)}
    assert named <= known
    assert len(BASELINES.pairs) == 8
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)


def test_the_worst_row_decides() -> None:
    levels = {REFERENCE: 0.62, "Linear": 0.60, "Tchebycheff": 0.40}
    rows = _rows(made_up(noisy(levels), rows=["baselines"]))
    finding = examine(BASELINES, rows)
    assert (finding.rows, len(finding.leads)) == ((9, 9), 8)
    lead = finding.decisive
    assert lead is not None
    assert lead.pair == (PASTA, LINEAR)
    assert finding.verdict == "weaker"  # about 10 % here, 45.5 % in the paper
    assert finding.above == 8
    assert finding.printed is not None
    assert finding.printed.pair == (PASTA, Row("baselines", "STCH (10.0)"))
    assert finding.printed.printed_share == pytest.approx(0.455)  # as its text says


def test_rows_that_are_not_fully_trained_are_not_judged() -> None:
    level = noisy({REFERENCE: 0.62})
    partial = made_up(lambda run: None if run.method == "Linear" and run.seed == 2 else level(run), rows=["baselines"])
    finding = examine(BASELINES, _rows(partial))
    assert finding.rows == (8, 9)
    assert all(lead.pair[1].method != "Linear" for lead in finding.leads)
    nobody = made_up(lambda run: None if run.method == REFERENCE and run.seed else level(run), rows=["baselines"])
    assert examine(BASELINES, _rows(nobody)).verdict == "not trained here"
    assert examine(BRAKE, _rows(partial)).verdict == "not trained here"


def test_on_another_scale_nothing_is_called_weaker() -> None:
    (frogger,) = [claim for claim in CLAIMS if claim.env == "frogger"]
    rows = _rows(made_up(noisy({REFERENCE: 0.62}, default=0.6), rows=["baselines"], env="frogger", preferences=None))
    assert not rows.same_scale
    finding = examine(frogger, rows)
    assert finding.verdict == "holds"
    assert finding.printed is not None
    assert finding.printed.printed == pytest.approx(0.796 - 0.360)
