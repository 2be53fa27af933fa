"""Play policies over whole batches of episodes and average their returns."""

from collections.abc import Callable

import torch
from torch import Tensor

from morl_envs import _checks
from morl_envs._loading import load
from morl_envs.cards import CARDS, EnvCard, find_card
from morl_envs.protocol import TensorEnv, check_playable

Policy = Callable[[Tensor], Tensor]

HEURISTICS: dict[str, dict[str, Policy]] = {
    card.name: {name: load(path) for name, path in card.heuristics} for card in CARDS.values() if card.heuristics
}
"""The heuristics of every environment that has some, as listed on its card."""


def heuristics_of(name: str | EnvCard) -> dict[str, Policy]:
    """Return the heuristics of an environment by name; empty if its card lists none.

    Example:
        >>> sorted(heuristics_of("formation"))
        ['formation keeper', 'goal rusher']
    """
    return {title: load(path) for title, path in find_card(name).heuristics}


class RandomPolicy:
    """Uniform actions from a private generator.

    Args:
        env: The batch to act in; continuous actions.
        seed: Seed of the generator.
    """

    def __init__(self, env: TensorEnv, seed: int = 0) -> None:
        low, high = (getattr(env, name, None) for name in ("action_low", "action_high"))
        if low is None or high is None:
            _checks.fail("env", "have continuous actions, as a TensorEnv", repr(env)[:200])
        _checks.whole("seed", seed, 0)
        _checks.between("seed", seed, 0, 2**62)
        self._low: Tensor = low
        self._range: Tensor = high - low
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, observation: Tensor) -> Tensor:
        """Return actions ``[N, a]``."""
        noise = torch.rand(observation.shape[0], len(self._low), dtype=torch.float32, generator=self._generator)
        return self._low + self._range * noise.to(observation.device)


def mean_returns(env: TensorEnv, policy: Policy) -> tuple[Tensor, Tensor]:
    """Play one episode in every environment of a batch.

    Returns:
        Undiscounted returns ``[N, m]`` and episode lengths ``[N]``.

    Example:
        >>> from morl_envs import make_batch
        >>> env = make_batch("stealth", 4, horizon=10)
        >>> returns, lengths = mean_returns(env, RandomPolicy(env))
        >>> returns.shape, lengths
        (torch.Size([4, 3]), tensor([10, 10, 10, 10]))
    """
    check_playable(env, policy)
    observation = env.reset_tensors()
    returns = torch.zeros(env.num_envs, len(env.objectives), dtype=torch.float32, device=observation.device)
    lengths = torch.zeros(env.num_envs, dtype=torch.int64, device=observation.device)
    alive = torch.ones(env.num_envs, 1, dtype=torch.bool, device=observation.device)
    while bool(alive.any()):
        observation, reward, terminated, truncated = env.step_tensors(policy(observation))
        returns += reward * alive
        lengths += alive.squeeze(-1)
        alive &= ~(terminated | truncated)
    return returns, lengths
