"""ONNX against PyTorch, for a policy that scales its observations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs import CARDS
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.running.export import OBSERVATIONS, TOLERANCE, draw_preferences, export_policy
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from tests.refusals import refused

onnxruntime = pytest.importorskip("onnxruntime", reason="the export extra is not installed")
CARD = CARDS["frogger"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one policy whose actions reach into every corner of the box."""
    torch.manual_seed(0)
    actor = UnitBoxGaussianActor(CARD.observation_dim, 3, CARD.action_dim)
    tensors = {f"peak.{name}": 3 * tensor for name, tensor in actor.state_dict().items()}
    tensors |= {"peak.observation_mean": torch.randn(20), "peak.observation_variance": torch.rand(20) + 0.1}
    weights = CARD.preferences[0]
    run = Run({}, weights, 0, "r", "g", "M", "frogger", 64)
    store = Store.create(tmp_path / "s", Manifest("c", {"frogger": EnvInfo(CARD.objectives)}, (run,)))
    point = {"iteration": 1, "steps": 64, "returns": (0.0, 0.0, 0.0), "hv": np.nan, "eu": 0.0}
    history = pd.DataFrame({"iteration": [1], "steps": [64]})
    store.write(RunRecord("r", "g", "M", "frogger", weights, 0, "done", "", 64, point, point, {}, history, tensors))
    return store.path


def test_the_file_computes_what_pytorch_computes(folder: Path, tmp_path: Path) -> None:
    made = export_policy(folder, tmp_path / "p.onnx")
    assert made.observations == OBSERVATIONS == 1000
    assert made.difference <= TOLERANCE == 1e-5
    session = onnxruntime.InferenceSession(str(made.path))
    assert [(item.name, item.shape[1]) for item in session.get_inputs()] == [("observation", 20), ("preference", 3)]
    inputs = {"observation": np.zeros((7, 20), np.float32), "preference": np.full((7, 3), 1 / 3, np.float32)}
    (action,) = session.run(["action"], inputs)
    assert action.shape == (7, 2)
    assert (np.abs(action) <= 1).all()


def test_disagreement_writes_nothing_and_keeps_what_is_there(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.onnx").write_text("older")
    with pytest.raises(ValueError, match=r"the ONNX policy differs from PyTorch by .* \(> 1e-12\); not written"):
        export_policy(folder, tmp_path / "p.onnx", tolerance=1e-12)
    assert (tmp_path / "p.onnx").read_text() == "older"
    assert {path.name for path in tmp_path.iterdir()} == {"s", "p.onnx"}


def test_a_policy_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="run r has no policy of its final"):
        export_policy(folder, tmp_path / "p.onnx", point="final")
    refused("`tolerance` must be > 0", export_policy, folder, tmp_path / "p.onnx", tolerance=0.0)


def test_preferences_are_drawn_evenly_and_the_same_each_time() -> None:
    one, two = (draw_preferences((0.2, 0.8), 4000, torch.Generator().manual_seed(0)) for _ in range(2))
    assert torch.equal(one, two)
    assert one[0].tolist() == pytest.approx([0.2, 0.8])
    assert (one >= 0).all()
    assert torch.allclose(one.sum(1), torch.ones(4000))
    quarters = torch.histc(one[:, 0], 4, 0.0, 1.0) / 4000
    assert (quarters - 0.25).abs().max() < 0.03
