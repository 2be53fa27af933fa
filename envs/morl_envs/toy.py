"""An environment with a solution in closed form, for examples, tests and measurements of the trainer itself."""

from collections.abc import Sequence

import torch
from torch import Tensor

from morl_envs import _checks
from morl_envs.protocol import State
from morl_envs.source import EnvSource


class ToyBatch:
    r"""Each objective i is maximal at its own corner: :math:`r_i = 1 - \tfrac14 \|a - e_i\|^2`, actions in [-1, 1].

    The corners :math:`e_i` are unit vectors, so for objectives up to the number of action dimensions the front of one
    step is the simplex that they span, and a preference w has its linear optimum at :math:`a = \sum_i w_i e_i`.
    Observations are noise (drawn from the environment's own seed), except the last number: the share of the episode
    that has passed. Episodes are truncated at the horizon.

    Args:
        num_envs: N.
        seeds: One seed per environment.
        objectives: Number of objectives, m.
        observation_dim: Size of an observation.
        action_dim: Size of an action, at least m.
        horizon: Steps per episode.

    Example:
        >>> env = ToyBatch(1, [0])
        >>> env.reset_tensors().shape
        torch.Size([1, 4])
        >>> env.step_tensors(torch.tensor([[0.5, 0.5]]))[1]
        tensor([[0.8750, 0.8750]])
    """

    num_actions: int | None = None
    action_low: Tensor | None
    action_high: Tensor | None

    def __init__(
        self,
        num_envs: int,
        seeds: Sequence[int],
        objectives: int = 2,
        observation_dim: int = 4,
        action_dim: int = 2,
        horizon: int = 16,
    ) -> None:
        if len(seeds) != num_envs:
            _checks.fail("seeds", f"hold {num_envs} numbers", len(seeds))
        if action_dim < objectives:
            _checks.fail("action_dim", f"be at least the number of objectives ({objectives})", action_dim)
        self.num_envs, self.observation_dim, self.action_dim, self.horizon = (
            num_envs,
            observation_dim,
            action_dim,
            horizon,
        )
        self.objectives = tuple(f"corner {i}" for i in range(objectives))
        self.action_low, self.action_high = -torch.ones(action_dim), torch.ones(action_dim)
        self._corners = torch.eye(objectives, action_dim)
        self._seed = torch.tensor([seed % 2**31 for seed in seeds])
        self._clock = torch.zeros(num_envs, dtype=torch.int64)
        self._columns = torch.arange(observation_dim - 1)
        self._step = torch.zeros(num_envs, 1)

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` is true."""
        chosen = torch.ones_like(self._step, dtype=torch.bool) if mask is None else mask.reshape(-1, 1)
        self._step, self._clock = self._step.masked_fill(chosen, 0.0), self._clock + chosen.squeeze(-1)
        return self._observe()

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Reward actions close to the corners."""
        self._step, self._clock = self._step + 1, self._clock + 1
        reward = 1 - 0.25 * (action.unsqueeze(1) - self._corners).square().sum(-1)
        truncated = self._step >= self.horizon
        return self._observe(), reward, torch.zeros_like(truncated), truncated

    def get_state(self) -> State:
        """Return seeds, episode numbers and step numbers."""
        return {"seed": self._seed.clone(), "clock": self._clock.clone(), "step": self._step.clone()}

    def set_state(self, state: State) -> None:
        """Continue from a state."""
        self._seed, self._clock, self._step = (state[name].clone() for name in ("seed", "clock", "step"))

    def _observe(self) -> Tensor:
        noise = (self._seed + 7919 * self._clock).unsqueeze(-1) * 48271 + 104729 * (self._columns + 1)
        scrambled = ((noise % 2147483647) * 16807 % 2147483647).to(torch.float32) / 2147483647.0
        return torch.cat([2 * scrambled - 1, self._step / self.horizon], dim=-1)


def toy(objectives: int = 2, observation_dim: int = 4, action_dim: int = 2, horizon: int = 16) -> EnvSource:
    """Return the source of :class:`ToyBatch`, for ``train(..., env=toy())``.

    Example:
        >>> toy(objectives=2).hv_high
        (16.0, 16.0)
    """
    sizes = {"objectives": objectives, "observation_dim": observation_dim, "action_dim": action_dim, "horizon": horizon}
    for name, size in sizes.items():
        _checks.whole(name, size, 1)

    def make(num_envs: int, seeds: Sequence[int]) -> ToyBatch:
        return ToyBatch(num_envs, seeds, objectives, observation_dim, action_dim, horizon)

    return EnvSource("toy", make, hv_low=(0.0,) * objectives, hv_high=(float(horizon),) * objectives)
