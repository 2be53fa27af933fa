"""A TorchRL transform that writes group advantages for TorchRL's language-model losses."""

import torch
from tensordict import NestedKey, TensorDictBase
from torch import Tensor
from torchrl.envs import Transform

from morl_blocks import _checks
from morl_blocks.llm.advantage import group_advantage
from morl_blocks.scalarizers import Scalarizer


class GroupAdvantage(Transform):
    """Write :func:`~morl_blocks.llm.group_advantage` into completions, for TorchRL's ``GRPOLoss`` and its relatives.

    It replaces TorchRL's ``MCAdvantage``, which uses one mean and one deviation for all rewards. It is applied when a
    replay buffer is extended, or by calling ``inv``. Unlike ``MCAdvantage`` it does not wait for the rest of a group:
    each ``extend`` must hold whole groups.

    Args:
        scalarizer: Any scalarizer to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]``.
        group_key: Key that identifies the group of each completion: texts such as the prompt, or integers, ``[N]``.
        reward_key: Key of the rewards, ``[N, m]``, or ``[N, K, m]`` to be summed over K tokens or turns.
        advantage_key: Key of the advantage, ``[N, 1, 1]``, which broadcasts over a completion's tokens.
        epsilon: As in :func:`~morl_blocks.llm.group_advantage`.

    Example:
        >>> from tensordict import TensorDict
        >>> from morl_blocks.scalarizers import Linear
        >>> reward = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
        >>> batch = TensorDict({"query": torch.tensor([0, 0, 1, 1]), ("next", "reward"): reward}, batch_size=4)
        >>> GroupAdvantage(Linear(), torch.tensor([0.5, 0.5])).inv(batch)["advantage"].flatten()
        tensor([ 0.8658, -0.8658, -0.8658,  0.8658])
    """

    weights: Tensor

    def __init__(
        self,
        scalarizer: Scalarizer,
        weights: Tensor,
        *,
        group_key: NestedKey = "query",
        reward_key: NestedKey = ("next", "reward"),
        advantage_key: NestedKey = "advantage",
        epsilon: float = 1e-4,
    ) -> None:
        super().__init__(in_keys=[group_key, reward_key], out_keys=[advantage_key])
        _checks.maximised("scalarizer", scalarizer)
        preference = _checks.floats("weights", weights)
        _checks.objectives("weights", preference)
        _checks.simplex("weights", preference)
        self.scalarizer, self.epsilon = scalarizer, epsilon
        self.register_buffer("weights", _checks.own(preference))

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Return samples unchanged, because a sample may hold parts of groups."""
        return tensordict

    def _inv_call(self, tensordict: TensorDictBase) -> TensorDictBase:
        group_key, reward_key = self.in_keys
        rewards = tensordict.get(reward_key)
        if rewards.dim() < 2:
            _checks.fail(str(reward_key), "be [N, m] or [N, K, m]", f"shape {list(rewards.shape)}")
        totals = rewards.flatten(1, -2).sum(1) if rewards.dim() > 2 else rewards
        groups = _ids(tensordict.get(group_key), len(totals))
        advantage = group_advantage(totals, groups, self.scalarizer, self.weights, epsilon=self.epsilon)
        return tensordict.set(self.out_keys[0], advantage.reshape(-1, 1, 1))


def _ids(groups: object, count: int) -> Tensor:
    """Return integer ids for texts, ``[N]``; numbers are returned unchanged."""
    if isinstance(groups, Tensor):
        return groups.reshape(count, -1)[:, 0]
    texts = groups.tolist() if hasattr(groups, "tolist") else [groups]
    flat = [str(text) for text in texts]
    seen: dict[str, int] = {}
    return torch.tensor([seen.setdefault(text, len(seen)) for text in flat])
