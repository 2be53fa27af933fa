"""Export a saved policy to ONNX, and check that it computes the same actions."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from morl_envs.source import EnvSource
from morl_recipes.common import checks
from morl_recipes.common.atomic_files import staged
from morl_recipes.evaluation.episodes import play_steps
from morl_recipes.evaluation.saved_policy import Point, SavedPolicy, acting
from morl_recipes.running.stored_runs import open_policy
from morl_recipes.store.store import Store

TOLERANCE = 1e-5
OBSERVATIONS = 1000


@dataclass(frozen=True)
class Exported:
    """The exported file, and its difference from PyTorch.

    Attributes:
        path: The ONNX file.
        run_id: The run.
        observations: Number of observations compared.
        difference: Largest difference of any action.
    """

    path: Path
    run_id: str
    observations: int
    difference: float


def export_policy(
    folder: str | Path,
    out: str | Path,
    *,
    run: str | None = None,
    point: Point = "peak",
    tolerance: float = TOLERANCE,
    env: Any = None,
) -> Exported:
    """Write a policy as ONNX: inputs ``observation [N, n]`` and ``preference [N, m]``, output ``action``.

    The file is written only after onnxruntime and PyTorch agree on the actions for 1,000 observations of episodes that
    the policy plays, each with another preference.

    Args:
        folder: A result store.
        out: The ONNX file; an existing one is replaced atomically.
        run: A run id or a part of one, such as a method; the best of several runs, and by default the best of all.
        point: The policy of the best validation, or the last.
        tolerance: Largest accepted difference of an action.
        env: The environment, if it was made in Python and has no name; as for :func:`~morl_recipes.train`.

    Returns:
        The exported file. A larger difference raises ``ValueError``, and then nothing is written.
    """
    _require_packages()
    checks.positive("tolerance", tolerance)
    out = checks.path("out", out)
    row, source, policy = open_policy(Store.open(folder), run, point, env)
    difference = export_module(policy, tuple(row["preference"]), source, out, tolerance)
    return Exported(out, row["run_id"], OBSERVATIONS, difference)


def export_module(
    policy: SavedPolicy, preference: tuple[float, ...], source: EnvSource, out: Path, tolerance: float = TOLERANCE
) -> float:
    """Write a policy as ONNX, checked as in :func:`export_policy`; return the largest difference of any action."""
    _require_packages()
    seen: list[Tensor] = []
    with source.opened(10, range(10)) as worlds:
        while len(seen) * worlds.num_envs < OBSERVATIONS:
            seen += [step.observation for step in play_steps(worlds, acting(policy, preference))]
    observation = torch.cat(seen)[:OBSERVATIONS].clone()
    others = np.random.default_rng(0).dirichlet(np.ones(len(preference)), OBSERVATIONS - 1)  # even over the simplex
    weights = torch.tensor(np.vstack([preference, others]), dtype=torch.float32)
    with staged(out) as temporary:
        _write(policy, observation[:2], weights[:2], temporary)
        difference = _difference(policy, observation, weights, temporary)
        if not difference <= tolerance:
            raise ValueError(
                f"the ONNX policy differs from PyTorch by {difference:.2g} (> {tolerance:g}); not written."
            )
    return difference


def _require_packages() -> None:
    missing = [name for name in ("onnx", "onnxruntime", "onnxscript") if find_spec(name) is None]
    if missing:
        raise ImportError(f"ONNX export needs {missing[0]}: pip install 'morl-blocks[export]'.")


def _write(policy: SavedPolicy, observation: Tensor, preference: Tensor, path: Path) -> None:
    batch = torch.export.Dim("batch")
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    with warnings.catch_warnings():
        # The exporter's warnings about its own future and about torchvision are irrelevant to users.
        warnings.simplefilter("ignore")
        logger.setLevel(logging.ERROR)
        names: dict[str, Any] = {"input_names": ["observation", "preference"], "output_names": ["action"]}
        shapes = ({0: batch}, {0: batch})
        program: Any = torch.onnx.export(
            policy, (observation, preference), dynamic_shapes=shapes, dynamo=True, verbose=False, **names
        )
    logger.setLevel(level)
    program.save(str(path))


def _difference(policy: SavedPolicy, observation: Tensor, preference: Tensor, path: Path) -> float:
    """Return the largest difference of any action."""
    session = import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (action,) = session.run(["action"], {"observation": observation.numpy(), "preference": preference.numpy()})
    with torch.no_grad():
        return float((torch.from_numpy(action) - policy(observation, preference)).abs().max())
