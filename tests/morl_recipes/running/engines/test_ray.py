"""A real Ray cluster of two nodes on this machine, one of which is killed in the middle of a sweep."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.running.engines.events import Finished, Lost
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.ray import LOOPBACK, RayEngine
from morl_recipes.running.execute import run_sweep
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import contents, tiny_plan
from tests.refusals import refused

ray: Any = pytest.importorskip("ray", reason="the ray extra is not installed")
ROOT = Path(__file__).parents[4]
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]))
    patch.setenv("RAY_DISABLE_IMPORT_WARNING", "1")
    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()
    patch.undo()


@pytest.mark.timeout(400)
def test_sweep_survives_the_loss_of_a_node_with_the_same_numbers_as_local(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    engine = RayEngine(cluster.address)
    assert engine.workers == 2
    plan = tiny_plan(population=4)

    def kill_when_busy() -> None:
        end = time.monotonic() + 200  # a busy machine takes its time to start a worker
        while not list(tmp_path.glob(f"*@{node.node_id}")) and time.monotonic() < end:
            time.sleep(0.1)
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    work = partial(fakes.hangs_on_node, tmp_path, node.node_id)
    outcome = run_sweep(plan, tmp_path / "ray", engine, work=work, progress=False)
    killer.join()
    assert (outcome.done, outcome.failed) == (8, {})
    (lost,) = tmp_path.glob(f"*@{node.node_id}")
    assert len(list(tmp_path.glob(f"{lost.name.split('@')[0]}@*"))) == 2  # begun on both nodes, finished on one

    run_sweep(plan, tmp_path / "inline", InlineEngine(), progress=False)
    assert contents(tmp_path / "ray" / "runs") == contents(tmp_path / "inline" / "runs")
    assert run_sweep(plan, tmp_path / "ray", engine, progress=False).ran == ()


@pytest.mark.timeout(300)
def test_task_that_hangs_is_replaced_and_its_population_tried_again(cluster: Any, tmp_path: Path) -> None:
    populations, told = tiny_plan().populations(16), []
    engine = RayEngine(cluster.address, silence=3.0, retries=1)
    events = list(engine.run(populations, fakes.hangs_once, tmp_path, lambda *args: told.append(args)))
    assert [type(event) for event in events] == [Finished] * 2
    assert len(list(tmp_path.glob("*/tried0"))) == 1
    assert {name for name, _ in told} == {population.name for population in populations}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("work", "retries", "reason"),
    [(fakes.dies_always, 0, "lost by the cluster"), (fakes.hangs_always, 1, "no progress for 1.5 seconds")],
)
def test_population_that_always_loses_its_task_stays_to_do(cluster: Any, work: Any, retries: int, reason: str) -> None:
    """The other population waits for the only core meanwhile, which does not count as hanging."""
    engine = RayEngine(cluster.address, silence=1.5, retries=retries)
    events = list(engine.run(tiny_plan().populations(16), work, None, lambda name, steps: None))
    (lost,) = [event for event in events if isinstance(event, Lost)]
    assert reason in lost.reason
    assert len(events) == 2


def test_bad_arguments_are_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refused("`cpus` must be > 0", RayEngine, cpus=0)
    refused("`silence` must be > 0", RayEngine, silence=0)
    refused("`retries` must be a whole number >= 0", RayEngine, retries=-1)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: (_ for _ in ()).throw(ConnectionError("nobody there")))
    refused("`address` must lead to a running Ray cluster, got 'auto': nobody there", RayEngine)
    monkeypatch.setattr("morl_recipes.running.engines.ray.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'morl-blocks\[ray\]'"):
        RayEngine()


@pytest.mark.parametrize(("address", "expected"), [("local", LOOPBACK), ("auto", {})])
def test_only_a_cluster_of_our_own_is_bound_to_the_loopback_address(
    address: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, environment = dict[str, Any](), dict[str, str]()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **options: asked.update(options))
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: "127.0.0.1")
    monkeypatch.delitem(sys.modules, "ray")
    monkeypatch.setattr("morl_recipes.running.engines.ray.os.environ", environment)
    monkeypatch.setattr("morl_recipes.running.engines.ray.import_module", lambda name: sys.modules.get(name, ray))
    RayEngine(address)
    assert asked["address"] == address
    assert environment == expected
    assert asked.get("include_dashboard", True) is (address == "auto")


def test_the_cluster_of_these_tests_listens_on_the_loopback_address(cluster: Any) -> None:
    assert str(cluster.address).startswith("127.0.0.1:")
