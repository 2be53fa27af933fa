"""A front: what policies reach under many preferences, and the policies themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from morl_blocks import metrics
from morl_recipes.common import checks
from morl_recipes.common.naming import count
from morl_recipes.evaluation.saved_policy import SavedPolicy
from morl_recipes.recipe.policy_network import Network

if TYPE_CHECKING:
    import pandas as pd

    from morl_envs.protocol import TensorEnv

Array = NDArray[np.float64]
BOUNDS = ("action_low", "action_high")


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """The outcome of :func:`~morl_recipes.train_front`: policies, and what each reached under each preference.

    ``points`` are those that no other point dominates (all objectives are maximised). With several seeds they come from
    all of them; ``front.of(seed)`` is the front of one, which is what methods are compared by.

    Attributes:
        env: Name of the environment.
        objectives: Names of the objectives.
        method: Name of the recipe.
        conditioned: One policy per seed for all preferences, instead of one policy per preference.
        policies: Parameters of each policy by name, with its action bounds when it has any.
        network: What these parameters belong to. A file can name the actors of this package, and those of a spec that
            is registered when it is loaded; a live module it cannot: its front is read, but not played.
        seeds: Seed of each policy.
        asked: Preference of every evaluation, ``[n, m]``.
        returns: Mean return of every evaluation, ``[n, m]``.
        errors: Standard errors of these means, ``[n, m]``; NaN after a single episode.
        member: Which policy was played, ``[n]``.
        episodes: Episodes per evaluation.
        gamma: Discount of the returns.
    """

    env: str
    objectives: tuple[str, ...]
    method: str
    conditioned: bool
    policies: tuple[dict[str, Tensor], ...]
    network: Network
    seeds: tuple[int, ...]
    asked: Array
    returns: Array
    errors: Array
    member: NDArray[np.int64]
    episodes: int
    gamma: float = 1.0

    @property
    def kind(self) -> str:
        """What was trained, in words."""
        return "one policy for all preferences" if self.conditioned else "one policy per preference"

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """Number of the evaluation behind each point: of equal ones the middle one, by the first objective."""
        best = np.flatnonzero(metrics.nondominated(self.returns))
        _, group = np.unique(self.returns[best], axis=0, return_inverse=True)
        groups = [best[group.ravel() == number] for number in range(group.max() + 1)]
        return np.array([own[(len(own) - 1) // 2] for own in groups])

    @property
    def points(self) -> Array:
        """The different returns that no other dominates, ``[k, m]``, in ascending order of the first objective."""
        return self.returns[self.kept]

    @property
    def standard_errors(self) -> Array:
        """Standard error of each point, ``[k, m]``."""
        return self.errors[self.kept]

    @property
    def preferences(self) -> Array:
        """The preference under which each point was reached, ``[k, m]``."""
        return self.asked[self.kept]

    def of(self, seed: int) -> Front:
        """Return the front of one seed."""
        if seed not in self.seeds:
            checks.fail("seed", f"be one of {sorted(set(self.seeds))}", seed)
        own = [index for index, other in enumerate(self.seeds) if other == seed]
        rows = np.isin(self.member, own)
        return replace(
            self,
            policies=tuple(self.policies[index] for index in own),
            seeds=(seed,) * len(own),
            asked=self.asked[rows],
            returns=self.returns[rows],
            errors=self.errors[rows],
            member=np.searchsorted(own, self.member[rows]),
        )

    def hypervolume(self, reference: Sequence[float], *, allow_empty: bool = False) -> float:
        """Measure what the points dominate above a reference point.

        Args:
            reference: The reference point, one number per objective; a point must exceed it in every objective.
            allow_empty: Return 0 where none does, instead of an error.
        """
        return metrics.front_hypervolume(self.points, reference, allow_empty=allow_empty)

    def policy(self, preference: Sequence[float]) -> FrontPolicy:
        """Return the policy for a preference: call it with an observation, and it returns the action.

        A conditioned policy is asked for exactly this preference; of several seeds the one with the higher utility at
        the nearest evaluation. Of one policy per preference it is the one that was trained for the nearest.

        Args:
            preference: A preference on the simplex, one number per objective.
        """
        return FrontPolicy(*self._chosen(preference))

    def export(self, path: str | Path, env: Any = None, preference: Sequence[float] | None = None) -> float:
        """Write a policy as ONNX, with ``observation`` and ``preference`` as inputs and ``action`` as output.

        Args:
            path: The file; it appears only after onnxruntime and PyTorch agree.
            env: The environment, where no name leads to it.
            preference: Which policy, as for :meth:`policy`; by default that of the uniform preference.

        Returns:
            Largest difference of any action from PyTorch's.
        """
        from morl_envs.source import find_source
        from morl_recipes.running.export import export_module

        m = len(self.objectives)
        module, weights = self._chosen((1 / m,) * m if preference is None else preference)
        return export_module(module, tuple(weights.tolist()), find_source(self.env if env is None else env), Path(path))

    def table(self) -> pd.DataFrame:
        """Return one row per point: preference, mean returns and their standard errors."""
        import pandas as pd

        names = [*(f"weight of {name}" for name in self.objectives), *self.objectives]
        names += [f"error of {name}" for name in self.objectives]
        rows = np.concatenate([self.preferences, self.points, self.standard_errors], axis=1)
        return pd.DataFrame(rows, columns=names).assign(seed=[self.seeds[self.member[index]] for index in self.kept])

    def save(self, folder: str | Path) -> None:
        """Write the front: ``front.json``, and the policies as safetensors. What was there stays until it is whole."""
        from morl_recipes.running.fronts.files import save_front

        save_front(self, Path(folder))

    @staticmethod
    def load(folder: str | Path) -> Front:
        """Read what :meth:`save` wrote; what is missing, damaged or foreign raises ``StoreError``."""
        from morl_recipes.running.fronts.files import load_front

        return load_front(Path(folder))

    def __repr__(self) -> str:
        distinct = sorted(set(self.seeds))
        seeds = f"seed{'s' * (len(distinct) > 1)} {', '.join(map(str, distinct))}"
        head = (
            f"{count(len(self.kept), 'point')} on {self.env} ({', '.join(self.objectives)}), {self.method}, {self.kind}"
        )
        return f"{head}, {seeds}\n{self.table().to_string(index=False, float_format='{:.4g}'.format)}"

    def _chosen(self, preference: Sequence[float]) -> tuple[SavedPolicy, Tensor]:
        """Return the module for a preference, and the preference that it is to be given."""
        asked = np.array(checks.preference(preference, len(self.objectives), name="preference"))
        distance = np.linalg.norm(self.asked - asked, axis=1)
        near = np.flatnonzero(distance <= distance.min() + 1e-9)
        best = near[np.argmax(self.returns[near] @ asked)]
        weights = asked if self.conditioned else self.asked[best]
        module = make_policy(self.policies[self.member[best]], len(self.objectives), self.network)
        return module, torch.tensor(weights).float()


class FrontPolicy:
    """From observations to actions, for one preference: tensors give tensors, anything else gives NumPy.

    Args:
        module: From observation and preference to the most likely action.
        preference: The preference, ``[m]``.
    """

    def __init__(self, module: SavedPolicy, preference: Tensor) -> None:
        self.module, self.preference = module, preference

    @torch.no_grad()
    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation ``[n]``, or actions for ``[N, n]``."""
        rows = torch.as_tensor(observation, dtype=self.preference.dtype)
        if rows.dim() not in (1, 2) or rows.shape[-1] != self.module.observation_dim:
            n = self.module.observation_dim
            checks.fail("observation", f"have shape [{n}] or [N, {n}]", f"shape {list(rows.shape)}")
        action = self.module(rows.reshape(-1, rows.shape[-1]), self.preference.unsqueeze(0))
        action = action if rows.dim() == 2 else action[0]
        return action if isinstance(observation, Tensor) else action.numpy()


def bounds_of(env: TensorEnv) -> dict[str, Tensor]:
    """Return the action bounds of an environment as tensors by name; none for discrete actions."""
    low, high = env.action_low, env.action_high
    return (
        {} if low is None or high is None else dict(zip(BOUNDS, (low.cpu().clone(), high.cpu().clone()), strict=True))
    )


def make_policy(tensors: dict[str, Tensor], num_objectives: int, network: Network) -> SavedPolicy:
    """Return a policy of a front as a module."""
    own = {name: tensor for name, tensor in tensors.items() if name not in BOUNDS}
    low, high = (tensors.get(name) for name in BOUNDS)
    module = SavedPolicy(own, num_objectives, low, high, network.build(num_objectives))
    module.observation_dim = network.observation_dim  # an actor of one's own need not tell
    return module.eval().requires_grad_(requires_grad=False)
