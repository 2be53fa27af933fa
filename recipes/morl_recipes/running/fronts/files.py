"""A front as files: sealed JSON, and the policies in a file of their own that the JSON names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
from torch import Tensor

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.policy_network import Network
from morl_recipes.running.fronts.front import Array, Front, make_policy
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, seal, unseal
from morl_recipes.store.versions import run_versions

SCHEMA, NAME, POLICIES = 1, "front.json", "policies"
ADVICE = "Train the front again, or restore the file."


def save_front(front: Front, folder: Path) -> None:
    """Write a front. The JSON comes last and names its policies, so there is always one whole front in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"{index}.{name}": tensor for index, own in enumerate(front.policies) for name, tensor in own.items()}
    content = safetensors.torch.save({name: tensor.contiguous().clone() for name, tensor in tensors.items()})
    mark = digest(content)
    file = f"{POLICIES}-{mark[:16]}.safetensors"
    atomic_files.replace(atomic_files.inside(folder, file), content)
    atomic_files.replace(atomic_files.inside(folder, NAME), seal(_fields(front) | {"policies": file, "sha256": mark}))
    for old in folder.glob(f"{POLICIES}-*.safetensors"):
        if old.name != file:
            atomic_files.remove(old)


def load_front(folder: Path) -> Front:
    """Read a front; every number and every policy is checked, for the folder may come from a stranger."""
    path = folder / NAME
    fields = unseal(path, schema=SCHEMA, advice=ADVICE)
    try:
        file = atomic_files.inside(folder, fields["policies"])
        content = read_bytes(file, LARGEST_FILE, ADVICE)
        if digest(content) != fields["sha256"]:
            raise StoreError(f"{file}: damaged (its digest does not match). {ADVICE}")
        front = _front(fields, safetensors.torch.load(content))
        _check(front)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, safetensors.SafetensorError) as error:
        raise StoreError(f"{path}: damaged ({type(error).__name__}: {str(error)[:200]}). {ADVICE}") from error
    return front


def _fields(front: Front) -> dict[str, Any]:
    """Return everything but the policies, as JSON."""
    arrays = {name: getattr(front, name) for name in ("asked", "returns", "errors", "member")}
    plain = {name: getattr(front, name) for name in ("env", "objectives", "method", "conditioned", "seeds")}
    return {"schema": SCHEMA, "versions": run_versions(), **plain, **arrays} | {
        "network": front.network.to_dict(),
        "episodes": front.episodes,
        "gamma": front.gamma,
    }


def _front(fields: dict[str, Any], tensors: dict[str, Tensor]) -> Front:
    """Return the front of a file."""
    policies: list[dict[str, Tensor]] = [{} for _ in fields["seeds"]]
    for key, tensor in tensors.items():
        index, _, name = key.partition(".")
        policies[int(index)][name] = tensor
    named = fields.get("network")  # older files have none: they were played with the paper's actor
    network = Network.of_shapes(policies[0], len(fields["objectives"])) if named is None else Network.from_dict(named)
    return Front(
        env=str(fields["env"]),
        objectives=tuple(map(str, fields["objectives"])),
        method=str(fields["method"]),
        conditioned=bool(fields["conditioned"]),
        policies=tuple(policies),
        network=network,
        seeds=tuple(map(int, fields["seeds"])),
        asked=_array(fields["asked"]),
        returns=_array(fields["returns"]),
        errors=_array(fields["errors"]),
        member=np.array(fields["member"], dtype=np.int64),
        episodes=int(fields["episodes"]),
        gamma=float(fields["gamma"]),
    )


def _array(rows: list[list[float | None]]) -> Array:
    """Return numbers; JSON has null for NaN."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


def _check(front: Front) -> None:
    """Require shapes that belong together, and policies that fit a network."""
    shape = (len(front.member), len(front.objectives))
    for name in ("asked", "returns", "errors"):
        if getattr(front, name).shape != shape:
            raise ValueError(f"{name} has shape {getattr(front, name).shape}, not {shape}")
    if not shape[0] or not np.isin(front.member, range(len(front.policies))).all():
        raise ValueError("an evaluation belongs to no policy")
    if not np.isfinite(front.returns).all() or not np.isfinite(front.asked).all():
        raise ValueError("a number is not finite")
    for tensors in front.policies if front.network.known else ():
        make_policy(tensors, shape[1], front.network)
