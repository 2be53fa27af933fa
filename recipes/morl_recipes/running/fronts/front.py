"""A front: the returns of policies for many preferences, and the policies themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from morl_recipes.common import atomic_files, checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal
from morl_recipes.evaluation.saved_policy import SavedPolicy, make_policy
from morl_recipes.recipe.policy_network import Network
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, seal
from morl_recipes.store.front import (
    ADVICE,
    NAME,
    SCHEMA,
    FrontReturns,
    damaged_front,
    front_fields,
    read_front,
    unseal_front,
)
from morl_recipes.store.versions import run_versions

POLICIES = "policies"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Front(FrontReturns):
    """The outcome of :func:`~morl_recipes.train_front`: policies, and the returns of each for each preference.

    :class:`~morl_recipes.store.FrontReturns` holds everything except the policies. ``points`` are the
    non-dominated ones (all objectives are maximised). With several seeds they come from all of them; ``front.of(seed)``
    is the front of one seed, by which methods are compared.

    Attributes:
        policies: Parameters of each policy by name, with its action bounds when it has any.
        network: Network of these parameters. A file can name the actors of this package, and those of a spec that is
            registered when it is loaded, but not a live module: its front can be read, but not played.
    """

    policies: tuple[dict[str, Tensor], ...]
    network: Network

    def of(self, seed: int) -> Front:
        """Return the front of one seed."""
        front = super().of(seed)  # checks the seed
        own = tuple(policy for policy, other in zip(self.policies, self.seeds, strict=True) if other == seed)
        return replace(front, policies=own)

    def policy(self, preference: Sequence[float]) -> FrontPolicy:
        """Return the policy for a preference; call it with an observation to get the action.

        A conditioned policy gets exactly this preference; of several seeds the one with the higher utility at the
        nearest evaluation is used. With one policy per preference, the policy of the nearest preference is used.

        Args:
            preference: A preference on the simplex, one number per objective.
        """
        return FrontPolicy(*self._chosen(preference))

    def export(self, path: str | Path, env: Any = None, preference: Sequence[float] | None = None) -> float:
        """Write a policy as ONNX, with ``observation`` and ``preference`` as inputs and ``action`` as output.

        Args:
            path: The file; it is written only after onnxruntime and PyTorch agree.
            env: The environment, if it has no name.
            preference: Selects the policy, as in :meth:`policy`; by default that of the uniform preference.

        Returns:
            Largest difference of any action from PyTorch's.
        """
        from morl_envs.source import find_source
        from morl_recipes.running.export import export_module

        path, m = checks.path("path", path), len(self.objectives)
        module, weights = self._chosen((1 / m,) * m if preference is None else preference)
        return export_module(module, tuple(weights.tolist()), find_source(self.env if env is None else env), path)

    def save(self, folder: str | Path) -> None:
        """Write ``front.json``, and the policies as safetensors. Existing files are kept until it is complete."""
        folder = checks.path("folder", folder)
        folder.mkdir(parents=True, exist_ok=True)
        named = {f"{index}.{name}": tensor for index, own in enumerate(self.policies) for name, tensor in own.items()}
        content = safetensors.torch.save({name: tensor.contiguous().clone() for name, tensor in named.items()})
        mark = digest(content)
        file = f"{POLICIES}-{mark[:16]}.safetensors"
        fields = {"schema": SCHEMA, "versions": run_versions(), **front_fields(self)}
        fields |= {"network": self.network.to_dict(), "policies": file, "sha256": mark}
        atomic_files.replace(atomic_files.inside(folder, file), content)
        # The JSON is written last and names its policies, so the folder always contains one complete front.
        atomic_files.replace(atomic_files.inside(folder, NAME), seal(fields))
        for old in folder.glob(f"{POLICIES}-*.safetensors"):
            if old.name != file:
                atomic_files.remove(old)

    @staticmethod
    def load(folder: str | Path) -> Front:
        """Read the output of :meth:`save`; it is checked, because it may be untrusted. Damage raises ``StoreError``."""
        folder = checks.path("folder", folder)
        fields = unseal_front(folder)
        front = read_front(folder, fields)
        try:
            file = atomic_files.inside(folder, fields["policies"])
            content = read_bytes(file, LARGEST_FILE, ADVICE)
            if digest(content) != fields["sha256"]:
                raise StoreError(f"{file}: damaged (its digest does not match). {ADVICE}")
            policies: list[dict[str, Tensor]] = [{} for _ in front.seeds]
            for key, tensor in safetensors.torch.load(content).items():
                index, _, name = key.partition(".")
                policies[int(index)][name] = tensor
            m, named = len(front.objectives), fields.get("network")
            # Older files name no network: their policies use the paper's actor.
            network = Network.of_shapes(policies[0], m) if named is None else Network.from_dict(named)
            for tensors in policies if network.known else ():
                make_policy(tensors, m, network)
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError, safetensors.SafetensorError) as error:
            raise damaged_front(folder, error) from error
        return Front(**front_fields(front), policies=tuple(policies), network=network)

    def __repr__(self) -> str:
        distinct = sorted(set(self.seeds))
        seeds = f"seed{'s' * (len(distinct) > 1)} {', '.join(map(str, distinct))}"
        points = count(len(self.kept), "point")
        head = f"{points} on {self.env} ({', '.join(self.objectives)}), {self.method}, {self.kind}"
        table = self.table().rename(columns=for_terminal)
        return f"{for_terminal(head)}, {seeds}\n{table.to_string(index=False, float_format='{:.4g}'.format)}"

    def _chosen(self, preference: Sequence[float]) -> tuple[SavedPolicy, Tensor]:
        """Return the module for a preference, and the preference to pass to it."""
        asked = np.array(checks.preference(preference, len(self.objectives), name="preference"))
        distance = np.linalg.norm(self.asked - asked, axis=1)
        near = np.flatnonzero(distance <= distance.min() + 1e-9)
        best = near[np.argmax(self.returns[near] @ asked)]
        weights = asked if self.conditioned else self.asked[best]
        module = make_policy(self.policies[self.member[best]], len(self.objectives), self.network)
        return module, torch.tensor(weights).float()


class FrontPolicy:
    """A policy for one preference: tensors give tensors, anything else gives NumPy."""

    def __init__(self, module: SavedPolicy, preference: Tensor) -> None:
        self.module, self.preference = module, preference

    @torch.no_grad()
    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation ``[n]``, or actions for ``[N, n]``."""
        try:
            rows = torch.as_tensor(observation, dtype=self.preference.dtype)
        except (TypeError, ValueError, RuntimeError):
            checks.fail("observation", "be an array of numbers", repr(observation)[:200])
        if rows.dim() not in (1, 2) or rows.shape[-1] != self.module.observation_dim:
            n = self.module.observation_dim
            checks.fail("observation", f"have shape [{n}] or [N, {n}]", f"shape {list(rows.shape)}")
        action = self.module(rows.reshape(-1, rows.shape[-1]), self.preference.unsqueeze(0))
        action = action if rows.dim() == 2 else action[0]
        return action if isinstance(observation, Tensor) else action.numpy()
