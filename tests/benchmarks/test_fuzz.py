import json
from pathlib import Path

import pytest

from benchmarks._fuzz_judge import FAILURES, VERDICTS, Case, judge
from benchmarks.fuzz import Args, cases, fuzz, main, uncovered


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_no_public_name_fails(case: Case) -> None:
    row = fuzz(case, inputs=200, examples=5)
    assert not any(row[verdict] for verdict in FAILURES), row["examples"]
    assert row["fine"] > 60


def test_every_public_name_has_a_case() -> None:
    assert not uncovered()


def test_failures_are_told_apart() -> None:
    def bad(values: object) -> object:
        raise RuntimeError("size mismatch")

    def unnamed(values: object) -> object:
        raise ValueError("wrong")

    make = cases()[0].make
    calls = {"obscure": bad, "unnamed": unnamed, "nan": lambda values: float("nan"), "silent": lambda values: 7.0}
    for verdict, call in calls.items():
        case = Case("broken", lambda d: {"values": make(d)["values"]}, call, lambda values: (1.0, 0.0))
        assert verdict in {judge(case, seed)[0] for seed in range(20)}


def test_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "fuzz.json", inputs=5, only="Linear"))
    assert set(results["total"]) == set(VERDICTS)
    assert json.loads((tmp_path / "fuzz.json").read_text())["total"] == results["total"]
