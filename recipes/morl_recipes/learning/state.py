"""The complete state of a batch as a flat dictionary of tensors, and back."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from morl_envs.protocol import TensorEnv
from morl_recipes.learning.batch import Batch


def tensors_of(batch: Batch) -> dict[str, Tensor]:
    """Return the complete state of a batch, with the observation at which the next rollout starts."""
    state = dict(_carried(batch))
    state |= {f"stream/{name}": stream.get_state() for name, stream in batch.streams.items()}
    for name, module in _modules(batch):
        state |= {f"{name}/{key}": _tensor(name, key, value) for key, value in module.state_dict().items()}
    return state | env_state("env", batch.env)


def load_tensors(batch: Batch, state: dict[str, Tensor]) -> None:
    """Continue from the state of :func:`tensors_of`, in place."""
    for name, tensor in _carried(batch):
        tensor.copy_(state[name])
    for name, stream in batch.streams.items():
        stream.set_state(state[f"stream/{name}"])
    for name, module in _modules(batch):
        module.load_state_dict(_below(f"{name}/", state))
    load_env("env", batch.env, state)


def env_state(name: str, env: TensorEnv) -> dict[str, Tensor]:
    """Return an environment's state with a prefix."""
    return {f"{name}/{key}": tensor for key, tensor in env.get_state().items()}


def load_env(name: str, env: TensorEnv, state: dict[str, Tensor]) -> None:
    """Continue an environment from what :func:`env_state` saved."""
    env.set_state(_below(f"{name}/", state))


def _below(prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): tensor for key, tensor in state.items() if key.startswith(prefix)}


def _carried(batch: Batch) -> Iterator[tuple[str, Tensor]]:
    for name, network in (("actor", batch.actor), ("critic", batch.critic)):
        yield from ((f"{name}/{key}", tensor) for key, tensor in zip(network._fields, network, strict=True))
    yield from (("low", batch.normalizer.low), ("high", batch.normalizer.high))
    yield from (("conflict", batch.conflict), ("carry", batch.carry), ("alive", batch.alive))
    yield from (("preferences", batch.collector.preferences), ("observation", batch.collector.observation))
    if batch.collector.initial is not None:
        yield "initial", batch.collector.initial.observation
    if batch.accrual is not None:
        yield from (("accrual/reward", batch.accrual.reward), ("accrual/discount", batch.accrual.discount))
    if batch.scale is not None:
        yield from ((f"scale/{key}", getattr(batch.scale, key)) for key in ("mean", "variance", "count"))


def _modules(batch: Batch) -> Iterator[tuple[str, nn.Module]]:
    yield "scalarizer", batch.scalarizers
    if batch.samplers is not None:
        yield "sampler", batch.samplers
    yield "combiner", batch.combine.blocks
    yield "advantage", nn.ModuleList(batch.forms)
    yield "loss", batch.learner.loss
    if batch.learner.penalty is not None:
        yield "penalty", batch.learner.penalty


def _tensor(module: str, key: str, value: object) -> Tensor:
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"`{module}` must keep its state in tensors to be saved, got {type(value).__name__} in {key}.")
    return value
