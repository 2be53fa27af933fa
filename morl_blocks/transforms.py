"""A TorchRL transform that turns a vector reward into a scalar one with any scalarizer, and keeps the vector."""

import torch
from tensordict import NestedKey, TensorDictBase
from torch import Tensor
from torchrl.data import Composite, TensorSpec, Unbounded
from torchrl.envs import Transform

from morl_blocks import _checks
from morl_blocks.scalarizers import Scalarizer


class ScalarizeReward(Transform):
    """Replace an environment's vector reward by its utility, so that any single-objective algorithm can train on it.

    The utility of a *step reward* is not the utility of a return: only for ``Linear`` do the two agree. Use it for
    baselines and logging; the recipes scalarize returns.

    Args:
        scalarizer: Any scalarizer of ``morl_blocks.scalarizers``.
        weights: Preference on the simplex, ``[m]``.
        reward_key: Where the vector reward is read, ``[*B, m]``, and the scalar one written, ``[*B, 1]``.
        vector_key: Where the vector reward is kept.

    Example:
        >>> from torchrl.envs import TransformedEnv
        >>> from torchrl.envs.libs.gym import MOGymEnv
        >>> from morl_blocks.scalarizers import Linear
        >>> base = MOGymEnv("deep-sea-treasure-v0")
        >>> env = TransformedEnv(base, ScalarizeReward(Linear(), torch.tensor([0.5, 0.5])))
        >>> step = env.rollout(3, break_when_any_done=False)["next"]
        >>> step["reward"].shape, step["vector_reward"].shape
        (torch.Size([3, 1]), torch.Size([3, 2]))
    """

    weights: Tensor

    def __init__(
        self,
        scalarizer: Scalarizer,
        weights: Tensor,
        *,
        reward_key: NestedKey = "reward",
        vector_key: NestedKey = "vector_reward",
    ) -> None:
        super().__init__(in_keys=[reward_key], out_keys=[reward_key, vector_key])
        weights = _checks.floats("weights", weights)
        _checks.objectives("weights", weights)
        _checks.simplex("weights", weights)
        if weights.dim() != 1:
            _checks.fail("weights", "be one preference, [m]", f"shape {list(weights.shape)}")
        if not isinstance(scalarizer, Scalarizer):
            _checks.fail("scalarizer", "be a Scalarizer such as Linear()", repr(scalarizer))
        self.scalarizer = scalarizer
        self.register_buffer("weights", weights)

    @property
    def reward_key(self) -> NestedKey:
        """Where the vector reward is read and the scalar one written."""
        return self.out_keys[0]

    @property
    def vector_key(self) -> NestedKey:
        """Where the vector reward is kept."""
        return self.out_keys[1]

    def _call(self, next_tensordict: TensorDictBase) -> TensorDictBase:
        vector = _checks.floats("reward", next_tensordict.get(self.reward_key))
        next_tensordict.set(self.vector_key, vector)
        next_tensordict.set(self.reward_key, self.scalarizer(vector, self.weights).unsqueeze(-1))
        return next_tensordict

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Apply to data that holds the reward at its root, as a replay buffer does with ``("next", "reward")`` keys."""
        return self._call(tensordict)

    def _reset(self, tensordict: TensorDictBase, tensordict_reset: TensorDictBase) -> TensorDictBase:
        return tensordict_reset  # there is no reward yet

    def transform_reward_spec(self, reward_spec: TensorSpec) -> TensorSpec:
        """Describe the scalar reward and the kept vector."""
        if not isinstance(reward_spec, Composite):
            reward_spec = Composite({self.reward_key: reward_spec}, shape=self.parent.batch_size)
        vector = reward_spec[self.reward_key]
        _checks.features("weights", self.weights, vector.shape[-1])
        reward_spec[self.vector_key] = vector.clone()
        shape = torch.Size([*vector.shape[:-1], 1])
        reward_spec[self.reward_key] = Unbounded(shape, device=vector.device, dtype=vector.dtype)
        return reward_spec
