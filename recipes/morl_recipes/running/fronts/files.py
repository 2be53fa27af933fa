"""A front as files: sealed JSON, and the policies in a file of their own that the JSON names."""

from __future__ import annotations

from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.policy_network import Network
from morl_recipes.running.fronts.front import Front, make_policy
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, seal
from morl_recipes.store.front import ADVICE, NAME, SCHEMA, damaged_front, record_fields, record_of, unseal_front
from morl_recipes.store.versions import run_versions

POLICIES = "policies"


def save_front(front: Front, folder: Path) -> None:
    """Write a front. The JSON comes last and names its policies, so there is always one whole front in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"{index}.{name}": tensor for index, own in enumerate(front.policies) for name, tensor in own.items()}
    content = safetensors.torch.save({name: tensor.contiguous().clone() for name, tensor in tensors.items()})
    mark = digest(content)
    file = f"{POLICIES}-{mark[:16]}.safetensors"
    fields = {"schema": SCHEMA, "versions": run_versions(), **record_fields(front), "network": front.network.to_dict()}
    atomic_files.replace(atomic_files.inside(folder, file), content)
    atomic_files.replace(atomic_files.inside(folder, NAME), seal(fields | {"policies": file, "sha256": mark}))
    for old in folder.glob(f"{POLICIES}-*.safetensors"):
        if old.name != file:
            atomic_files.remove(old)


def load_front(folder: Path) -> Front:
    """Read a front; every number and every policy is checked, for the folder may come from a stranger."""
    fields = unseal_front(folder)
    record = record_of(fields, folder)
    try:
        file = atomic_files.inside(folder, fields["policies"])
        content = read_bytes(file, LARGEST_FILE, ADVICE)
        if digest(content) != fields["sha256"]:
            raise StoreError(f"{file}: damaged (its digest does not match). {ADVICE}")
        policies: list[dict[str, Tensor]] = [{} for _ in record.seeds]
        for key, tensor in safetensors.torch.load(content).items():
            index, _, name = key.partition(".")
            policies[int(index)][name] = tensor
        m, named = len(record.objectives), fields.get("network")
        # Older files name no network: they were played with the paper's actor.
        network = Network.of_shapes(policies[0], m) if named is None else Network.from_dict(named)
        for tensors in policies if network.known else ():
            make_policy(tensors, m, network)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, safetensors.SafetensorError) as error:
        raise damaged_front(folder, error) from error
    return Front(**record_fields(record), policies=tuple(policies), network=network)
