"""A scalar reward by any scalarizer, in addition to the vector reward."""

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

    The vector is kept as an observation, zero at a reset, so that the environment has one reward. Put transforms that
    sum vectors, such as ``RewardSum``, before this one.

    Args:
        scalarizer: Any scalarizer of ``morl_blocks.scalarizers`` to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]``.
        reward_key: Key of the reward: the vector reward, ``[*B, m]``, is read and the scalar one, ``[*B, 1]``, is
            written.
        vector_key: Key under which the vector reward of a step is kept, ``[*B, m]``.

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
        _checks.maximised("scalarizer", scalarizer)
        self.scalarizer = scalarizer
        self.register_buffer("weights", _checks.own(weights))

    @property
    def reward_key(self) -> NestedKey:
        """Key of the vector reward that is read and the scalar reward that is written."""
        return self.out_keys[0]

    @property
    def vector_key(self) -> NestedKey:
        """Key of the kept vector reward."""
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
        # There is no reward yet; TorchRL keeps the entries of environments that are not reset.
        return tensordict_reset.set(self.vector_key, self._vector_spec().zero())

    def _vector_spec(self) -> TensorSpec:
        """Describe the kept vector: without bounds, because the zeros at a reset need not be possible rewards."""
        vector = self.parent.full_reward_spec[self.reward_key]
        return Unbounded(vector.shape, device=vector.device, dtype=vector.dtype)

    def transform_observation_spec(self, observation_spec: Composite) -> Composite:
        """Describe the kept vector; listed as a second reward it would break transforms that expect one."""
        observation_spec[self.vector_key] = self._vector_spec()
        return observation_spec

    def transform_reward_spec(self, reward_spec: TensorSpec) -> TensorSpec:
        """Describe the scalar reward."""
        if not isinstance(reward_spec, Composite):
            reward_spec = Composite({self.reward_key: reward_spec}, shape=self.parent.batch_size)
        vector = reward_spec[self.reward_key]
        _checks.features("weights", self.weights, vector.shape[-1])
        shape = torch.Size([*vector.shape[:-1], 1])
        reward_spec[self.reward_key] = Unbounded(shape, device=vector.device, dtype=vector.dtype)
        return reward_spec
