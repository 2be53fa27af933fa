import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import protocol_b
from benchmarks.protocol_b import Args, main
from morl_recipes.running.fronts.protocol import protocol_settings
from tests.refusals import refused


def test_seeds_are_trained_once_and_the_table_says_what_is_ahead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, int]] = []

    def trained(env: str, seed: int, folder: Path) -> dict[str, Any]:
        asked.append((env, seed))
        return {"env": env, "seed": seed, "steps": 7, "HV": 2e5, "EUM": 100.0 + seed, "sparsity": 1.0, "points": []}

    monkeypatch.setattr(protocol_b, "trained", trained)
    for seeds in ((0, 1), (0, 1, 2)):
        args = Args(out=tmp_path / "p.json", runs=tmp_path, seeds=seeds, only=("mo-hopper-2d-v4",))
        figures = main(args)
    assert asked == [("mo-hopper-2d-v4", seed) for seed in (0, 1, 2)]
    assert json.loads((tmp_path / "p.json").read_text()) == figures
    main(Args(out=tmp_path / "p.json", runs=tmp_path, table=True))
    text = (tmp_path / "p.txt").read_text()
    assert "mo-hopper-2d-v4 (seeds 0, 1, 2; ahead of all in HV, not in EUM)" in text
    assert "mo-humanoid-v4: not yet trained" in text
    outside = Args(out=tmp_path / "q.json", runs=tmp_path, only=("mo-walker2d-v4",))
    refused("`env` must be an environment of protocol B", main, outside)


def test_a_seed_is_trained_played_and_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = {"preferences": [[0.0, 1.0], [1.0, 0.0]]}
    monkeypatch.setattr(protocol_b, "protocol_settings", lambda task, recipe: protocol_settings(task, recipe) | few)
    row = protocol_b.trained("mo-hopper-2d-v4", 0, tmp_path / "run", steps=2048)
    assert (row["env"], row["seed"], row["steps"]) == ("mo-hopper-2d-v4", 0, 2048)
    assert row["HV"] > 10_000.0
    assert 1 <= len(row["points"]) <= 2
