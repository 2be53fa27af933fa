"""Whatever is given to a public name, it answers with finite numbers or refuses an argument by name, rule and value."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import _fuzz_harness
from benchmarks._fuzz_calls import Call, calls, uncovered
from benchmarks.fuzz import FAILURES, VERDICTS, Args, Spoilt, fuzz, judge, main


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_no_public_name_fails_and_good_arguments_give_a_finite_answer(call: Call) -> None:
    row = fuzz(call, inputs=40, examples=5)
    assert not any(row[verdict] for verdict in FAILURES), row["examples"]
    if call.name != "Given":
        assert judge(call, Spoilt(call.arguments, (), same=True)) == ("fine", "")


def test_recipes_and_environments_refuse_bad_arguments_by_name() -> None:
    slow = ("Front.export", "export_policy", "write_figures", "write_report", "train_front", "run_sweep")
    try:
        rows = {call.name: fuzz(call, 1, 5) for call in _fuzz_harness.calls() if call.name not in slow}
        assert not _fuzz_harness.uncovered()  # every public name is called
    finally:
        _fuzz_harness.remove()
    assert not {name: row["examples"] for name, row in rows.items() if any(row[verdict] for verdict in FAILURES)}


def refuse(values: torch.Tensor) -> None:
    raise ValueError(f"`values` must be finite, got {values}.")


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        (Call("f", refuse, {"values": torch.ones(3)}), "named"),
        (Call("f", torch.nn.Linear(2, 1), {}), "obscure"),
        (Call("f", lambda values: values.nansum(), {}), "nan"),
        (Call("f", lambda values: values.sum(), {}, pure=True), "carried"),
        (Call("f", lambda values: values.sum(), {}, pure=False), "nan"),
    ],
)
def test_verdict_follows_from_error_and_answer(monkeypatch: pytest.MonkeyPatch, call: Call, verdict: str) -> None:
    monkeypatch.setattr("benchmarks.fuzz.PACKAGES", str(Path(__file__).parent))  # as if this file were the package
    name = "values" if verdict != "obscure" else "input"
    assert judge(call, Spoilt({name: torch.tensor([1.0, torch.nan, 2.0])}, (), same=False))[0] == verdict


def test_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "fuzz.json", inputs=5, only="Linear.forward"))
    assert not uncovered()  # every public name is called
    assert set(results["total"]) == set(VERDICTS)
    assert json.loads((tmp_path / "fuzz.json").read_text())["total"] == results["total"]
