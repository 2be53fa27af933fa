"""Calls of a value network on a rollout: two calls, or one that computes each observation once."""

import torch
from tensordict import NestedKey, TensorDict, TensorDictBase
from torch import Tensor, nn

from morl_blocks.ppo._tensordict import written


def call(network: nn.Module, key: NestedKey, tensordict: TensorDictBase, params: TensorDictBase | None) -> Tensor:
    """Return the network's values, with its own parameters or with ``params``, without gradients."""
    held = TensorDict.from_module(network) if params is None else params
    with held.detach().to_module(network):
        return written("value_network", network, network(tensordict), key)


def call_once(
    network: nn.Module,
    key: NestedKey,
    root: TensorDictBase,
    following: TensorDictBase,
    params: TensorDictBase | None,
    ends: tuple[Tensor, int],
) -> tuple[Tensor, Tensor]:
    """Return V(s) and V(s') from one call: most next observations are the root observations of the following step.

    network: Value network without a recurrent state.
        network: Value network without memory.
        key: Key of its values.
        root: Its inputs, batch size ``[*B, T]``.
        following: Its inputs after each step, ``[*B, T]``.
        params: Parameters, its own by default.
        ends: Whether an episode ended, ``[*B, T, 1]``, and the time dimension.

    Returns:
        Values and next values, both ``[*B, T, m]``.
    """
    done, time = ends[0].squeeze(-1).clone(), ends[1] % root.batch_dims
    done.select(time, -1).fill_(1)  # the last step has no following step
    apart = done.flatten()
    values = call(network, key, torch.cat([root.flatten(), following.flatten()[apart]]), params)
    value = values[: apart.numel()].unflatten(0, root.batch_size)
    next_value = value.roll(-1, time).flatten(0, -2)
    next_value = next_value.index_put((apart.nonzero().squeeze(-1),), values[apart.numel() :])
    return value, next_value.unflatten(0, root.batch_size)
