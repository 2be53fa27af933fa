"""Vector GAE as a TorchRL value estimator."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from tensordict import NestedKey, TensorDictBase
from tensordict.nn import dispatch, skip_existing
from torch import Tensor, nn
from torchrl.objectives.value import ValueEstimatorBase

from morl_blocks import _checks
from morl_blocks.ppo import _torchrl_options
from morl_blocks.ppo._tensordict import next_key, read, require_module, require_shape, require_vectors, take
from morl_blocks.ppo._value_calls import call, call_once
from morl_blocks.ppo.scan import Mask, TimeLimit, read_ends, vector_gae


class VectorGAE(ValueEstimatorBase):
    """Write the advantage and value target of each objective into a TorchRL rollout.

    It reads ``("next", "reward")``, ``("next", "done")``, ``("next", "terminated")`` and either calls ``value_network``
    on the root and on ``"next"`` (and stores its outputs under ``"state_value"`` and ``("next", "state_value")``) or,
    with ``value_network=None``, reads those two. It writes ``"advantage"`` and ``"value_target"``. All keys can be
    changed with ``set_keys``. Time is the dimension named ``"time"``, else the last one of the batch, as in TorchRL's
    ``GAE``.

    Advantages carry no gradient unless ``differentiable`` is set. Integer rewards are converted. Shapes are not
    broadcast: a scalar reward, a scalar value or a ``done`` per objective raises an error. ``"terminated"`` is
    required, because without it a time limit would silently count as a termination. A network that reads
    ``"preference"`` gets the root's where ``"next"`` has none. With ``"steps_to_next_obs"`` (TorchRL's multi-step
    rewards) each step is discounted by that many steps.

    Args:
        gamma: Discount in ``[0, 1]``, a number or ``[m]``, one per objective.
        lmbda: Trace decay in ``[0, 1]``.
        value_network: Tensordict module that writes ``[*B, T, m]`` values, or ``None`` when the rollout holds them.
        time_dim: Time dimension of the tensordict; by default as described above.
        time_limit: ``"bootstrap"`` or ``"terminal"``, as in :func:`vector_gae`.
        mask: ``"step"`` or ``"next"``, as in :func:`vector_gae`.
        shifted: Call the network once, on the root and on those next observations that are not the root of the
            following step (episode ends and the last step): T + 1 rows instead of 2 T. Only for networks without a
            recurrent state.
        skip_existing: Read values that the tensordict already holds instead of calling the network; defaults to
            ``tensordict.nn.set_skip_existing``.
        differentiable: Let gradients flow to rewards and observations. As in TorchRL, gradients reach neither the
            network's parameters nor the values of the next observations.
        device: Device of ``gamma`` and ``lmbda``.
        **refused: Options of ``GAE`` that have no meaning here; each raises an error with the reason.

    Example:
        >>> from tensordict import TensorDict
        >>> flags = {"done": torch.zeros(4, 1, dtype=torch.bool), "terminated": torch.zeros(4, 1, dtype=torch.bool)}
        >>> rollout = TensorDict(
        ...     {"state_value": torch.zeros(4, 2), "next": {"state_value": torch.zeros(4, 2),
        ...      "reward": torch.tensor([[1.0, 0.0]]).expand(4, 2), **flags}}, batch_size=[4])
        >>> VectorGAE(gamma=0.5, lmbda=1.0)(rollout)["advantage"]
        tensor([[1.8750, 0.0000],
                [1.7500, 0.0000],
                [1.5000, 0.0000],
                [1.0000, 0.0000]])
    """

    @dataclass
    class _AcceptedKeys:
        advantage: NestedKey = "advantage"
        value_target: NestedKey = "value_target"
        value: NestedKey = "state_value"
        reward: NestedKey = "reward"
        done: NestedKey = "done"
        terminated: NestedKey = "terminated"
        preference: NestedKey = "preference"
        steps_to_next_obs: NestedKey = "steps_to_next_obs"

    default_keys = _AcceptedKeys
    gamma: Tensor
    lmbda: Tensor

    def __init__(
        self,
        *,
        gamma: Tensor | float = 0.99,
        lmbda: Tensor | float = 0.95,
        value_network: nn.Module | None = None,
        time_dim: int | None = None,
        time_limit: TimeLimit = "bootstrap",
        mask: Mask = "step",
        shifted: bool = False,
        skip_existing: bool | None = None,
        differentiable: bool = False,
        device: torch.device | str | None = None,
        **refused: Any,
    ) -> None:
        _checks.device("device", device)
        options = {"shifted": shifted, "skip_existing": skip_existing, "differentiable": differentiable}
        for name, flag in options.items():
            if name != "skip_existing" or flag is not None:
                _checks.boolean(name, flag)
        super().__init__(value_network=value_network, device=device, **options)
        _torchrl_options.refuse("VectorGAE", refused, _torchrl_options.GAE)
        _checks.choice("time_limit", time_limit, ("bootstrap", "terminal"))
        _checks.choice("mask", mask, ("step", "next"))
        if value_network is not None:
            require_module("value_network", value_network)
        if time_dim is not None:
            _checks.integer("time_dim", time_dim)
        _checks.between("gamma", gamma, 0.0, 1.0)
        _checks.between("lmbda", lmbda, 0.0, 1.0)
        self.register_buffer("gamma", _checks.number("gamma", gamma).to(self._device))
        self.register_buffer("lmbda", _checks.number("lmbda", lmbda).to(self._device))
        self.time_dim = time_dim
        self.time_limit: TimeLimit = time_limit
        self.mask: Mask = mask

    @property
    def in_keys(self) -> list[NestedKey]:
        """Input keys: rewards, episode ends, and the inputs of the value network or the values themselves."""
        keys = self.tensor_keys
        inputs = [keys.value] if self.value_network is None else list(self.value_network.in_keys)
        nested = [*inputs, keys.reward, keys.done, keys.terminated]
        return [*inputs, *(next_key(key) for key in nested if key != keys.preference)]

    @dispatch
    def forward(
        self,
        tensordict: TensorDictBase,
        *,
        params: TensorDictBase | None = None,
        target_params: TensorDictBase | None = None,
        time_dim: int | None = None,
    ) -> TensorDictBase:
        """Write advantage and value target, ``[*B, T, m]``, into ``tensordict`` and return it.

        Args:
            tensordict: Rollout with batch size ``[*B, T]``.
            params: Parameters for ``value_network``, its own by default.
            target_params: Parameters for the values of the next observations, ``params`` by default.
            time_dim: Time dimension of ``tensordict`` for this call.
        """
        with torch.set_grad_enabled(self.differentiable and torch.is_grad_enabled()):
            time = self._get_time_dim(time_dim, tensordict) if tensordict.batch_dims else 0
            advantage, target = self._estimate(tensordict, params, target_params, time)
        tensordict.set(self.tensor_keys.advantage, advantage)
        tensordict.set(self.tensor_keys.value_target, target)
        return tensordict

    def _estimate(
        self,
        tensordict: TensorDictBase,
        params: TensorDictBase | None,
        target_params: TensorDictBase | None,
        time: int,
    ) -> tuple[Tensor, Tensor]:
        """Return advantage and value target, with the time dimension of ``tensordict``."""
        keys = self.tensor_keys
        reward, done, terminated = (
            read(tensordict, next_key(key)) for key in (keys.reward, keys.done, keys.terminated)
        )
        require_vectors("reward", reward, tensordict.batch_size)
        self._check_ends(tensordict.batch_size, (done, terminated))
        strides = tensordict.get(keys.steps_to_next_obs, None)
        if self.shifted and (strides is not None or target_params is not None):
            _checks.fail("shifted", "be False with multi-step rewards or target_params", "True")
        value, next_value = self._values(tensordict, params, target_params, (done | terminated, time))
        self._check(tensordict.batch_size, reward, (value, next_value))
        _checks.finite("reward", reward)
        _checks.finite("state_value", value)
        reward, value, next_value, terminated, done = (
            tensor.transpose(time, -2) for tensor in (reward, value, next_value.detach(), terminated, done)
        )
        # Values after a termination are never read.
        following = torch.where(read_ends(terminated, done, self.time_limit, self.mask)[0], 0.0, next_value)
        _checks.finite("next state_value", following)
        # Integer rewards must not round the discounts.
        reward = reward.to(torch.promote_types(reward.dtype, value.dtype))
        gamma, lmbda = self.gamma.to(reward), self.lmbda.to(reward)
        if strides is not None:
            require_shape("steps_to_next_obs", strides, torch.Size([*tensordict.batch_size, 1]))
            gamma = gamma ** strides.transpose(time, -2)
        options: dict[str, Any] = {"time_limit": self.time_limit, "mask": self.mask}
        advantage, target = vector_gae(reward, value, next_value, terminated, done, gamma, lmbda, **options)
        values = {"state_value": value, "next state_value": following}
        _checks.no_overflow("reward", target, reward, block="VectorGAE", **values)
        return advantage.transpose(time, -2), target.transpose(time, -2)

    def value_estimate(
        self, tensordict: TensorDictBase, target_params: TensorDictBase | None = None, **kwargs: Any
    ) -> Tensor:
        """Return only the value target, ``[*B, T, m]``, and do not change ``tensordict``."""
        output = self(tensordict.copy(), params=target_params, **kwargs)
        target: Tensor = output.get(self.tensor_keys.value_target)
        return target

    def _values(
        self,
        tensordict: TensorDictBase,
        params: TensorDictBase | None,
        target_params: TensorDictBase | None,
        ends: tuple[Tensor, int],
    ) -> tuple[Tensor, Tensor]:
        """Return V(s) and V(s'), from the network (stored in ``tensordict`` too) or from ``tensordict``."""
        here, there = self.tensor_keys.value, next_key(self.tensor_keys.value)
        skip = skip_existing() if self.skip_existing is None else self.skip_existing
        held = [skip and tensordict.get(key, None) is not None for key in (here, there)]
        if self.value_network is not None and not all(held):
            inputs, preference = list(self.value_network.in_keys), self.tensor_keys.preference
            lasting = [key for key in inputs if key == preference and tensordict.get(next_key(key), None) is None]
            root = take(tensordict, inputs)
            following = take(tensordict, [next_key(key) for key in inputs if key not in lasting])
            following = following.get("next", root.empty()).update(root.select(*lasting))
            if self.shifted:
                both: Iterable[Tensor | None] = call_once(self.value_network, here, root, following, params, ends)
            else:
                later = params if target_params is None else target_params
                calls = (held[0], root, params), (held[1], following, later)
                both = [None if known else call(self.value_network, here, *rest) for known, *rest in calls]
            for key, value, known in zip((here, there), both, held, strict=True):
                if not known:
                    tensordict.set(key, value)
        return read(tensordict, here), read(tensordict, there)

    def _check(self, batch: torch.Size, reward: Tensor, values: Iterable[Tensor]) -> None:
        """Raise for every shape of values that would broadcast."""
        _checks.broadcastable("gamma", self.gamma, reward.shape[-1:])
        _checks.broadcastable("lmbda", self.lmbda, reward.shape[-1:])
        for name, value in zip(("state_value", "next state_value"), values, strict=True):
            if reward.shape[-1] == 1 and value.shape[:-1] == batch:
                require_shape("reward", reward, value.shape)  # a scalar reward is the more likely mistake
            require_shape(name, value, reward.shape)
            _checks.floating(name, value)

    def _check_ends(self, batch: torch.Size, ends: Iterable[Tensor]) -> None:
        """Raise for episode ends of another shape or another dtype than bool."""
        for name, end in zip(("done", "terminated"), ends, strict=True):
            require_shape(name, end, torch.Size([*batch, 1]))
            if end.dtype != torch.bool:
                _checks.fail(name, "be bool", end.dtype)
