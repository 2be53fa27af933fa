import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_recipes import ROWS
from morl_recipes.recipe.settings import NAMES, Settings
from morl_recipes.running.execute import describe_seeds
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import sweep_from
from tests.morl_recipes.running.fakes import TINY, tiny_plan
from tests.refusals import refused


def test_rows_of_one_training_are_planned_once() -> None:
    plan = make_plan(sweep_from({"rows": ["all"], "seeds": 1, "preferences": [[0.2, 0.2, 0.6]]}))
    assert len(plan.runs) == 59
    assert [run.method for run in plan.runs].count("PASTA (Ours)") == 1
    distinct = {recipe.to_json() for rows in ROWS.values() for recipe in rows.values()}
    distinct -= {ROWS["fixed_mu"]["mu=10.0"].to_json()}  # which is No Decay
    assert {run.recipe.to_json() for run in plan.runs} == distinct
    methods = {run.method for run in tiny_plan(rows=["fixed_mu", "controller"]).runs}
    assert ("mu=10.0" in methods, "No Decay" in methods) == (True, False)
    assert "No Decay" in {run.method for run in tiny_plan(rows=["controller"]).runs}


def test_ids_follow_from_everything_that_changes_numbers_and_nothing_else() -> None:
    def ids(**changes: object) -> set[str]:
        return {run.run_id for run in tiny_plan(**changes).runs}

    assert ids() == ids()
    assert ids(checkpoint_every=5, population=1) == ids()
    for change in ({"total_steps": 512}, {"num_envs": 4}, {"eval_every": 1}, {"eval_episodes": 3}, {"compile": True}):
        assert not ids(**change) & ids()
    assert not ids(ppo={"epochs": 2}) & ids()
    assert ids(seeds=3) > ids()


@given(st.integers(1, 20))
def test_populations_are_a_partition_into_nearly_equal_parts_of_one_structure(size: int) -> None:
    plan = tiny_plan(seeds=7)
    populations = plan.populations(size)
    assert sorted(run.run_id for p in populations for run in p.runs) == sorted(run.run_id for run in plan.runs)
    assert len({p.name for p in populations}) == len(populations)
    for population in populations:
        assert len(population.runs) <= size
        assert len({(run.env, run.recipe.structure()) for run in population.runs}) == 1
    structures = [p.runs[0].recipe.structure() for p in populations]
    for structure in set(structures):
        sizes = [len(p.runs) for p, own in zip(populations, structures, strict=True) if own == structure]
        assert max(sizes) - min(sizes) <= 1


def test_sizes_follow_the_machine() -> None:
    plan, big = (tiny_plan(rows=["PASTA"], seeds=seeds) for seeds in (16, 100))
    for own, workers, sizes in (
        (plan, 1, [16]),
        (plan, 2, [8, 8]),
        (plan, 16, [1] * 16),
        (big, 2, [25] * 4),  # not 33, 33 and 34 on two workers
    ):
        assert [len(p.runs) for p in own.populations(own.suggest_size(workers))] == sizes
    assert tiny_plan(rows=["PASTA"], seeds=16, population=5).suggest_size(2) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"envs": ["steelth"]}, r"'steelth'. Nearest: stealth"),
        ({"preferences": [[0.2, 0.3, 0.5]]}, "`preferences` must hold 2 numbers"),
        ({"num_envs": 3}, r"`num_envs` must divide steps_per_iteration \(64\) of .*, got 3"),
    ],
)
def test_plan_that_cannot_be_trained_is_refused(changes: dict[str, Any], message: str) -> None:
    refused(message, tiny_plan, **changes)


def test_two_environments_of_one_name_are_refused_and_copies_of_one_file_are_one(tmp_path: Path) -> None:
    names = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "world.py").write_text("from morl_envs.toy import ToyBatch as make_env\n")
        names.append(f"{tmp_path / folder / 'world.py'}:make_env")
    changes = {"envs": names, "rows": ["PASTA"], "preferences": None, "seeds": 1}
    assert [run.env for run in tiny_plan(**changes).runs] == ["world.py:make_env"]
    (tmp_path / "b" / "world.py").write_text("from morl_envs.toy import ToyBatch as make_env  # another\n")
    message = (
        "`envs` must come from files of different names, got world.py:make_env of .*a/world.py and of .*b/world.py"
    )
    refused(message, tiny_plan, **changes)


ROWS_FILE = """
from dataclasses import replace
import torch
from morl_blocks.combiners import Sum
from morl_blocks.critics import SharedCritic
from morl_recipes import PASTA
from morl_recipes.recipe.specs import TorchJD, spec

class Halfway(Sum):
    def __init__(self):
        self.broken = {}["weights"]

class CountedCalls(SharedCritic):
    def __init__(self, observation_dim, num_objectives):
        super().__init__(observation_dim, num_objectives)
        self.register_buffer("count", torch.zeros(()))

Buffered = replace(PASTA, critic=spec(CountedCalls)())
Unknown = replace(PASTA, combiner=TorchJD("NoSuchWeighting"))
Broken = replace(PASTA, combiner=spec(Halfway)())
"""


@pytest.fixture
def my_rows(tmp_path: Path) -> Path:
    path = tmp_path / "my_rows.py"
    path.write_text(ROWS_FILE)
    return path


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Unknown", r"my_rows/Unknown cannot be built: ValueError: `weighting` must name a class of torchjd"),
        ("Broken", r"my_rows/Broken cannot be built: KeyError: 'weights' \(.*my_rows.py:11\)"),
        ("Buffered", r"my_rows/Buffered cannot be built: ValueError: `critic` must keep .*, got the buffer 'count'"),
    ],
)
def test_recipes_that_cannot_be_built_are_refused(my_rows: Path, row: str, message: str) -> None:
    refused(message, tiny_plan, rows=["PASTA", f"{my_rows}:{row}"])


def test_seeds_are_described_and_many_are_abbreviated() -> None:
    assert describe_seeds(tiny_plan(seeds=[5])) == "seed 5"
    assert describe_seeds(tiny_plan(seeds=9)) == "seeds 0, 1, 2, 3, 4, 5, 6, 7, ..."


def test_planning_draws_no_random_numbers() -> None:
    before = torch.get_rng_state()
    tiny_plan()
    assert torch.equal(torch.get_rng_state(), before)


def test_manifest_holds_settings_and_files_of_the_runs(my_rows: Path) -> None:
    my_rows.write_text("from morl_recipes import PASTA as MyRow")
    manifest = tiny_plan(rows=["PASTA", f"{my_rows}:MyRow"]).manifest("a command")
    settings = Settings().change(**{name: value for name, value in TINY.items() if name in NAMES})
    assert manifest.training == settings.decisive()
    (file,) = manifest.plugins
    assert (file["path"], file["source"]) == (str(my_rows), my_rows.read_text())
    assert {run.plugin for run in manifest.runs if run.method == "MyRow"} == {file["sha256"]}
    assert {run.plugin for run in manifest.runs if run.method != "MyRow"} == {""}
    assert file["sha256"] == hashlib.sha256(my_rows.read_bytes()).hexdigest()
    assert {"torchjd", "torch"} <= set(manifest.versions)


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchjd.aggregation", None)
    refused(r"ours/UPGrad cannot be built: .* pip install 'morl-blocks\[torchjd\]'", tiny_plan, rows=["UPGrad"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"mo-ant-v5 needs the mujoco extra: pip install 'morl-blocks\[mujoco\]'"):
        tiny_plan(envs=["mo-ant-v5"])
