"""ONNX against PyTorch, for a policy that scales its observations."""

from pathlib import Path

import numpy as np
import pytest

from morl_recipes.common.errors import StoreError
from morl_recipes.running.export import OBSERVATIONS, TOLERANCE, export_policy
from tests.morl_recipes.running.fakes import make_store
from tests.refusals import refused

onnxruntime = pytest.importorskip("onnxruntime", reason="the export extra is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_store(tmp_path / "s", seeds=1)


def test_onnx_file_computes_what_pytorch_computes(folder: Path, tmp_path: Path) -> None:
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


def test_missing_policy_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="run r0 has no policy of its final"):
        export_policy(folder, tmp_path / "p.onnx", point="final")
    refused("`tolerance` must be > 0", export_policy, folder, tmp_path / "p.onnx", tolerance=0.0)
