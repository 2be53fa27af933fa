import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks._fuzz_calls import Call, UnreachedError, calls, uncovered
from benchmarks.fuzz import FAILURES, OTHER, SAME, VERDICTS, Args, Spoilt, fuzz, judge, main

X = torch.rand(3)


def raised(error: Exception, cause: Exception | None = None) -> Callable[..., object]:
    def function(values: object) -> object:
        if cause is None:
            raise error
        try:
            raise cause
        except Exception as met:
            raise error from met

    return function


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_no_public_name_fails(call: Call) -> None:
    row = fuzz(call, inputs=40, examples=5)
    assert not any(row[verdict] for verdict in FAILURES), row["examples"]


@pytest.mark.parametrize("call", [call for call in calls() if call.name != "Given"], ids=lambda call: call.name)
def test_good_arguments_give_a_finite_answer(call: Call) -> None:
    assert judge(call, Spoilt(call.arguments, (), same=True)) == ("fine", "")


@pytest.mark.parametrize(
    ("function", "spoil", "verdict"),
    [
        (raised(RuntimeError("size mismatch")), "float64", "obscure"),
        (lambda values: torch.nn.Linear(2, 1)(torch.nn.Linear(3, 3)(values)), "float64", "obscure"),
        (raised(ValueError("wrong")), "float64", "unnamed"),
        (raised(ValueError("`something` must be else")), "float64", "unnamed"),
        (raised(ValueError("`values` must be finite, got nan.")), "nan", "named"),
        (raised(KeyError("values")), "float64", "obscure"),
        (
            raised(RuntimeError("Failed while executing module 'x'"), ValueError("`values` must be 1, got 2.")),
            "nan",
            "named",
        ),
        (raised(RuntimeError("Failed while executing module 'x'"), RuntimeError("size")), "nan", "obscure"),
        (raised(UnreachedError()), "nan", "unreached"),
        (lambda values: values.nansum(), "nan", "nan"),
        (lambda values: values.log().sum() * torch.inf, "zero", "nan"),
        (lambda values: values.real.sum(), "complex", "silent"),
        (lambda values: values.sum() + values.stride(0), "not contiguous", "silent"),
        (lambda values: values.sum(), "float64", "fine"),
    ],
)
def test_verdict_follows_from_error_and_answer(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., object], spoil: str, verdict: str
) -> None:
    monkeypatch.setattr("benchmarks.fuzz.PACKAGES", str(Path(__file__).parent))  # as if this file were the package
    arguments = {"values": (SAME | OTHER)[spoil](X)}
    assert judge(Call("f", function, {"values": X}), Spoilt(arguments, (), spoil in SAME))[0] == verdict
    for pure, carried in ((True, "carried"), (False, "nan")):  # only pure functions may carry NaN
        call = Call("sum", lambda values: values.sum(), {"values": X}, pure)
        assert judge(call, Spoilt({"values": torch.tensor([torch.nan])}, (), same=False))[0] == carried


def test_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "fuzz.json", inputs=5, only="Linear.forward"))
    assert not uncovered()  # every public name is called
    assert set(results["total"]) == set(VERDICTS)
    assert json.loads((tmp_path / "fuzz.json").read_text())["total"] == results["total"]
