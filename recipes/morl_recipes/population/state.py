"""Everything a population carries over, as a flat dictionary of tensors, and back."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from morl_envs.protocol import TensorEnv
from morl_recipes.population.blocks import PerRunCombiner
from morl_recipes.population.population import Population


def tensors_of(population: Population) -> dict[str, Tensor]:
    """Return the complete state of a population.

    Weights, Adam moments, return bounds, conflict, observation statistics, generators, blocks, environments, and the
    observation at which the next rollout starts.
    """
    state = dict(_numbers(population))
    state |= {f"stream/{name}": stream.get_state() for name, stream in population.streams.items()}
    for name, module in _modules(population):
        state |= {f"{name}/{key}": _tensor(name, key, value) for key, value in module.state_dict().items()}
    state["observation"] = population.collector.observation
    return state | env_state("env", population.env)


def load_tensors(population: Population, state: dict[str, Tensor]) -> None:
    """Continue from the state of :func:`tensors_of`, in place."""
    for name, tensor in _numbers(population):
        tensor.copy_(state[name])
    for name, stream in population.streams.items():
        stream.set_state(state[f"stream/{name}"])
    for name, module in _modules(population):
        module.load_state_dict(_below(f"{name}/", state))
    population.collector.observation = state["observation"].to(population.device)
    load_env("env", population.env, state)


def env_state(name: str, env: TensorEnv) -> dict[str, Tensor]:
    """Return an environment's state under a prefix."""
    return {f"{name}/{key}": tensor for key, tensor in env.get_state().items()}


def load_env(name: str, env: TensorEnv, state: dict[str, Tensor]) -> None:
    """Continue an environment from what :func:`env_state` saved."""
    env.set_state(_below(f"{name}/", state))


def _below(prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): tensor for key, tensor in state.items() if key.startswith(prefix)}


def _numbers(population: Population) -> Iterator[tuple[str, Tensor]]:
    for name, network in (("actor", population.actor), ("critic", population.critic)):
        yield from ((f"{name}/{key}", tensor) for key, tensor in zip(network._fields, network, strict=True))
    yield from (("low", population.bounds.low), ("high", population.bounds.high))
    yield from (("conflict", population.conflict), ("carry", population.carry), ("alive", population.alive))
    if population.scale is not None:
        yield from ((f"scale/{key}", getattr(population.scale, key)) for key in ("mean", "variance", "count"))


def _modules(population: Population) -> Iterator[tuple[str, nn.Module]]:
    yield "scalarizer", population.scalarizer
    if population.scheduler is not None:
        yield "scheduler", population.scheduler
    if isinstance(population.combiner, PerRunCombiner):
        yield "combiner", population.combiner


def _tensor(module: str, key: str, value: object) -> Tensor:
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"`{module}` must keep its state in tensors to be saved, got {type(value).__name__} in {key}.")
    return value
