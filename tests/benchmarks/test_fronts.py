import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import fronts
from benchmarks._front_peers import CHANGES, PEERS, unable
from benchmarks._front_table import _winner
from benchmarks._front_tasks import TASKS, played
from benchmarks.fronts import Args, main
from morl_recipes.running.fronts import recipe

TREASURE = TASKS["deep-sea-treasure-v0"]


def test_policies_are_played_as_a_protocol_says() -> None:
    down = played(lambda x, _: torch.ones(len(x), dtype=torch.int64), TREASURE.preferences(3), TREASURE, 0)
    assert down == [[pytest.approx(0.7), -1.0]] * 3
    assert TREASURE.scores(down)["hv"] == pytest.approx(0.7 * 49)
    cheetah = TASKS["mo-halfcheetah-v5"]
    assert (cheetah.gamma, cheetah.reference) == (0.99, (-100.0, -100.0))
    assert unable("CAPQL", TREASURE) == "continuous actions only"
    assert unable("PCN", TREASURE) is unable("CAPQL", cheetah) is None
    assert set(CHANGES) < set(PEERS)


def test_a_race_of_ours_is_written_line_by_line_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = dataclasses.replace(recipe.DISCRETE, steps_per_iteration=64, minibatch_size=32, epochs=1)
    monkeypatch.setattr(recipe, "DISCRETE", small)
    names = ("Linear, conditioned", "Exact PCGrad, decomposed")
    args = Args(out=tmp_path / "fronts.json", seconds=0.3, seeds=2, tasks=("deep-sea-treasure-v0",), contenders=names)
    figures = main(args)
    assert len((tmp_path / "fronts.jsonl").read_text().splitlines()) == 4
    row = figures["deep-sea-treasure-v0"]["time"]["Linear, conditioned"]
    assert row["seeds"] == 2
    assert row["hv"]["low"] <= row["hv"]["mean"] <= row["hv"]["high"]
    assert "exact front: HV 994.3" in capsys.readouterr().out
    monkeypatch.setattr(fronts, "_alone", lambda *_: pytest.fail("trained again"))
    assert main(args) == figures


def row(mean: float, low: float, high: float, seeds: int = 5) -> dict[str, Any]:
    return {"seeds": seeds, "hv": {"mean": mean, "low": low, "high": high}}


def test_the_winner_is_named_with_the_best_of_the_other_side() -> None:
    rows = {"Linear, conditioned": row(5, 4, 6), "PCN": row(3, 2, 3.5), "CAPQL": row(1, 0, 2)}
    assert _winner(rows, "hv") == "ours: Linear, conditioned 5, before PCN 3 (clear)"
    rows["STCH, conditioned"] = row(99, 98, 100, seeds=1)  # the luckiest of many with one seed does not win
    assert _winner(rows, "hv") == "ours: Linear, conditioned 5, before PCN 3 (clear)"
    rows["PCN"] = row(7, 5, 9)
    assert _winner(rows, "hv") == "morl-baselines: PCN 7, before Linear, conditioned 5 (not clear)"
    rows["PCN"] = row(5, 5, 5)
    assert _winner(rows, "hv").startswith("tie: ")
    assert _winner({"PCN": row(1, 0, 2)}, "hv") == "-"
