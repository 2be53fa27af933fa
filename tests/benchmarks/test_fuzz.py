import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks._fuzz_judge import FAILURES, VERDICTS, Case, UnreachedError, judge
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


@pytest.mark.parametrize(
    ("cause", "verdict"),
    [
        (ValueError("`values` must be finite, got nan."), "named"),
        (ValueError("`something` is wrong"), "unnamed"),
        (KeyError("'values' is not there"), "named"),
        (RuntimeError("size mismatch"), "obscure"),
    ],
)
def test_what_tensordict_wraps_is_judged_like_the_error_itself(cause: Exception, verdict: str) -> None:
    def wrapped(values: object) -> object:
        raise RuntimeError("Failed while executing module 'x'") from cause

    assert judge(Case("wrapped", lambda d: {"values": d.unit(2)}, wrapped), 0)[0] == verdict


def test_calls_that_never_reach_the_block_are_no_answer_of_it() -> None:
    def unreached(values: object) -> object:
        raise UnreachedError

    assert judge(Case("unreached", lambda d: {"values": d.unit(2)}, unreached), 0)[0] == "unreached"


@pytest.mark.parametrize(("dtype", "verdict"), [(torch.float16, "carried"), (torch.float32, "nan")])
def test_an_overflow_is_judged_by_the_dtype_of_the_answer(dtype: torch.dtype, verdict: str) -> None:
    def overflows(values: object, clip: object) -> torch.Tensor:
        return torch.tensor(torch.inf, dtype=dtype)

    make = {"values": torch.tensor([300.0]), "clip": np.float16(0.2)}
    assert judge(Case("overflows", lambda d: make, overflows, pure=True, keep=("values", "clip")), 0)[0] == verdict


def test_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "fuzz.json", inputs=5, only="Linear"))
    assert set(results["total"]) == set(VERDICTS)
    assert json.loads((tmp_path / "fuzz.json").read_text())["total"] == results["total"]
