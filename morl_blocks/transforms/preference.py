"""A preference as an entry of the observations."""

import torch
from tensordict import NestedKey, TensorDictBase
from torch import Tensor
from torchrl.data import Bounded, Composite
from torchrl.envs import Transform

from morl_blocks import _checks


class Preference(Transform):
    """Add a preference to the observations, so that policies and critics can read it.

    It works inside and around ``SerialEnv`` and ``ParallelEnv``. If it knows the environment's actions, the first step
    also raises an error for actions of another shape: where TorchRL's Gymnasium wrappers expect a one-hot vector, they
    silently read an index as action 0. A preference whose length is not that of the vector reward raises an error too.

    Args:
        weights: Preference on the simplex, ``[m]``, or one per environment of a batch, ``[*B, m]``.
        key: Key of the preference, at the root and after every step.

    Example:
        >>> from torchrl.envs import TransformedEnv
        >>> from torchrl.envs.libs.gym import MOGymEnv
        >>> env = TransformedEnv(MOGymEnv("deep-sea-treasure-v0"), Preference(torch.tensor([0.7, 0.3])))
        >>> env.reset()["preference"]
        tensor([0.7000, 0.3000])
    """

    weights: Tensor

    def __init__(self, weights: Tensor, *, key: NestedKey = "preference") -> None:
        super().__init__(in_keys=[], out_keys=[key])
        weights = _checks.floats("weights", weights)
        _checks.objectives("weights", weights)
        _checks.simplex("weights", weights)
        self.register_buffer("weights", _checks.own(weights))
        self._checked = False

    def _write(self, tensordict: TensorDictBase) -> TensorDictBase:
        shape = torch.Size([*tensordict.batch_size, self.weights.shape[-1]])
        _checks.aligned("weights", self.weights, shape)
        return tensordict.set(self.out_keys[0], self.weights.expand(shape).clone())

    def _call(self, next_tensordict: TensorDictBase) -> TensorDictBase:
        return self._write(next_tensordict)

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Write the preference to stored data."""
        return self._write(tensordict)

    def _reset(self, tensordict: TensorDictBase, tensordict_reset: TensorDictBase) -> TensorDictBase:
        return self._write(tensordict_reset)

    def _inv_call(self, tensordict: TensorDictBase) -> TensorDictBase:
        if not self._checked and self.parent is not None:
            for spec in self.parent.full_reward_spec.values(include_nested=True, leaves_only=True):
                if spec.shape[-1] > 1:  # a scalar reward does not show the number of objectives
                    _checks.objectives("weights", self.weights, spec.shape[-1])
            for key, spec in self.parent.full_action_spec.items(include_nested=True, leaves_only=True):
                action = tensordict.get(key, None)
                if action is not None and action.shape != spec.shape:
                    rule = f"have shape {list(spec.shape)}, as {type(spec).__name__} says"
                    _checks.fail("action", rule, f"shape {list(action.shape)}")
            self._checked = True
        return tensordict

    def transform_observation_spec(self, observation_spec: Composite) -> Composite:
        """Describe the preference."""
        shape = torch.Size([*observation_spec.shape, self.weights.shape[-1]])
        observation_spec[self.out_keys[0]] = Bounded(
            0.0, 1.0, shape, device=observation_spec.device, dtype=self.weights.dtype
        )
        return observation_spec
