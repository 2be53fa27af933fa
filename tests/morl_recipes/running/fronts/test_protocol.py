import numpy as np
import pandas as pd
import pytest

from morl_blocks.metrics import eum, front_hypervolume
from morl_recipes import Front, front_recipe
from morl_recipes.recipe.protocols import protocol
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.protocol import (
    as_text,
    beside_published,
    front_scores,
    protocol_settings,
    protocol_task,
)
from tests.refusals import refused

TASK = protocol_task("B", "mo-hopper-2d-v4")


@pytest.mark.parametrize(
    ("name", "env", "message"),
    [
        ("C", "mo-hopper-2d-v4", r"`name` must be a protocol \(A, B, exact\), got 'C'"),
        ("B", "mo-walker2d-v4", r"`env` must be an environment of protocol B \(mo-hopper-2d-v4, .*humanoid"),
        ("B", "mo-ant-v5", r"`env` must be comparable under protocol B \(mo-hopper.*contact cost"),
        ("A", "mo-hopper-2obj-v5", r"comparable under protocol A \(none\)"),
    ],
)
def test_unknown_and_incomparable_tasks_are_refused(name: str, env: str, message: str) -> None:
    refused(message, protocol_task, name, env)


@pytest.mark.parametrize("task", [task for task in protocol("B").tasks if task.comparable], ids=lambda task: task.env)
def test_protocol_steps_are_rounded_down_to_whole_iterations(task: object) -> None:
    own = protocol_task("B", task.env)  # type: ignore[attr-defined]
    how = protocol_settings(own, front_recipe(own.env))
    steps, each = how["total_steps"], front_recipe(own.env).ppo.steps_per_iteration
    assert own.steps is not None
    assert own.steps - each < steps <= own.steps
    assert steps == how["settings"].total_steps
    assert steps % each == 0
    assert len(how["preferences"]) == {2: 101, 3: 66}[own.objectives]
    assert (how["gamma"], own.reference) == (0.99, (-100.0,) * own.objectives)
    assert how["settings"].eval_episodes == 5


def test_task_without_a_length_keeps_that_of_the_settings() -> None:
    treasure = protocol_task("exact", "deep-sea-treasure-v0")
    how = protocol_settings(treasure, front_recipe(treasure.env), Settings(total_steps=4096))
    assert how["total_steps"] == 4096


def test_scores_are_those_of_each_seed_alone(conditioned: Front) -> None:
    scores = front_scores(conditioned, TASK)
    assert scores["seed"].tolist() == [3, 4]
    for _, row in scores.iterrows():
        points = conditioned.of(int(row["seed"])).points
        assert row["HV"] == front_hypervolume(points, [-100.0, -100.0])
        assert row["EUM"] == eum(points, TASK.grid())
        assert row["points"] == len(points)


def test_table_has_our_row_and_every_published_one() -> None:
    scores = pd.DataFrame({"seed": [0, 1], "HV": [1e5, 1.2e5], "EUM": [240.0, 260.0], "sparsity": [1.0, 2.0]})
    table = beside_published(scores, TASK, "ours", 1000)
    assert table["method"].tolist() == ["ours", "PG-MORL", "GPI-LS", "C-MORL", "D3PO"]
    own, best = table.iloc[0], table.set_index("method").loc["C-MORL"]
    np.testing.assert_allclose([own["HV"], own["EUM"], own["sparsity"]], [1.1e5, 250.0, 1.5])
    np.testing.assert_allclose([own["HV ±"], own["EUM ±"]], [np.std([1e5, 1.2e5], ddof=1), 200**0.5])
    assert (best["HV"], best["EUM"], best["seeds"]) == (137_000.0, 253.0, 5)
    assert pd.isna(best["sparsity"])
    assert pd.isna(beside_published(scores[:1], TASK, "ours", 1000)["HV ±"][0])
    lines = as_text(table).splitlines()
    assert len(lines) == 6
    assert "nan" not in as_text(table).lower()
    assert "D3PO project page" in lines[4]


def test_missing_metric_is_empty_and_suspect_value_is_named() -> None:
    scores = pd.DataFrame({"seed": [0], "HV": [900.0], "EUM": [5.0], "sparsity": [0.0]})
    tasks = protocol_task("exact", "deep-sea-treasure-v0"), protocol_task("B", "mo-ant-2d-v4")
    exact, ant = (beside_published(scores, task, "ours", 10).set_index("method") for task in tasks)
    assert exact.loc["exact front"]["HV"] == 994.3
    assert pd.isna(exact.loc["exact front"]["EUM"])
    assert ant["EUM"]["GPI-LS"] == 428.0
    assert "suspect EUM" in ant["source"]["GPI-LS"]
    assert not ant["source"].drop("GPI-LS").str.contains("suspect").any()
