import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import protocol_b
from benchmarks.protocol_b import Args, main
from morl_recipes.running.fronts.protocol import protocol_settings
from tests.refusals import refused


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Give every seed figures without training; return which were asked for."""
    seen: list[tuple[str, int]] = []

    def trained(env: str, seed: int, folder: Path) -> dict[str, Any]:
        seen.append((env, seed))
        assert folder.name == f"{env}-{seed}"
        return {"env": env, "seed": seed, "steps": 7, "HV": 2e5, "EUM": 100.0 + seed, "sparsity": 1.0, "points": []}

    monkeypatch.setattr(protocol_b, "trained", trained)
    return seen


def test_seeds_are_written_as_they_come_and_never_trained_again(asked: list[tuple[str, int]], tmp_path: Path) -> None:
    args = Args(out=tmp_path / "p.json", runs=tmp_path, seeds=(0, 1), only=("mo-hopper-2d-v4",))
    main(args)
    figures = main(Args(out=tmp_path / "p.json", runs=tmp_path, seeds=(0, 1, 2), only=("mo-hopper-2d-v4",)))
    assert asked == [("mo-hopper-2d-v4", seed) for seed in (0, 1, 2)]
    assert json.loads((tmp_path / "p.json").read_text()) == figures
    assert [row["seed"] for row in figures["seeds"]] == [0, 1, 2]


def test_the_table_says_what_is_ahead_and_what_is_missing(asked: list[tuple[str, int]], tmp_path: Path) -> None:
    main(Args(out=tmp_path / "p.json", runs=tmp_path, seeds=(0,), only=("mo-hopper-2d-v4",)))
    main(Args(out=tmp_path / "p.json", runs=tmp_path, table=True))
    text = (tmp_path / "p.txt").read_text()
    assert len(asked) == 1
    assert "mo-hopper-2d-v4 (seeds 0; ahead of all in HV, not in EUM)" in text
    assert "mo-humanoid-v4: not yet trained" in text
    outside = Args(out=tmp_path / "q.json", runs=tmp_path, only=("mo-walker2d-v4",))
    refused("`env` must be an environment of protocol B", main, outside)


def test_a_seed_is_trained_played_and_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = protocol_settings

    def few(task: Any, recipe: Any) -> dict[str, Any]:
        return settings(task, recipe) | {"preferences": [[0.0, 1.0], [1.0, 0.0]]}

    monkeypatch.setattr(protocol_b, "protocol_settings", few)
    row = protocol_b.trained("mo-hopper-2d-v4", 0, tmp_path / "run", steps=2048)
    assert (row["env"], row["seed"], row["steps"]) == ("mo-hopper-2d-v4", 0, 2048)
    assert row["HV"] > 10_000.0
    assert row["EUM"] > 0.0
    assert 1 <= len(row["points"]) <= 2
