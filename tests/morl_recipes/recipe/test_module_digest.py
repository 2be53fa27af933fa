"""Modules of equal numbers have one digest, and any other number changes it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from morl_blocks.combiners import PCGrad, Sum, TorchJD
from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay
from morl_recipes.recipe.fields import digest_of


class Holder(nn.Module):
    """Keep anything as an attribute."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Number:
    def __init__(self, number: float) -> None:
        self.number = number


def _linear(seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Linear(2, 2)


def _weighting(share: float) -> nn.Module:
    from torchjd.aggregation import UPGradWeighting

    return TorchJD(UPGradWeighting(pref_vector=torch.tensor([share, 1 - share])))


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (Fixed, 1.0, 2.0),
        (LinearDecay, 5.0, 6.0),  # its numbers are in no state dict
        (lambda base: ConflictBraked(LinearDecay(base)), 5.0, 6.0),
        (lambda pairing: PCGrad(pairing=pairing), "index", "position"),
        (_linear, 0, 1),
        (_weighting, 0.5, 0.25),
        (Holder, 1, 1.0),
        (Holder, "a", "b"),
        (Holder, (1, None), (1, 2)),
        (Holder, {"a": [1]}, {"a": [2]}),
        (Holder, frozenset("ab"), frozenset("abc")),
        (Holder, np.arange(2), np.arange(1, 3)),
        (Holder, torch.zeros(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16)),
        (Holder, torch.relu, torch.tanh),
        (lambda number: Holder(Number(number)), 1, 2),
    ],
)
def test_a_digest_follows_from_the_numbers(make: Callable[[Any], nn.Module], one: Any, other: Any) -> None:
    assert digest_of(make(one)) == digest_of(make(one))
    assert digest_of(make(one)) != digest_of(make(other))


def test_class_mode_and_frozen_parameters_count() -> None:
    assert digest_of(Sum()) != digest_of(PCGrad())
    assert digest_of(Sum()) != digest_of(Sum().eval())
    assert digest_of(_linear(0)) != digest_of(_linear(0).requires_grad_(requires_grad=False))


def test_a_circle_ends() -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    assert digest_of(Holder(circle)) == digest_of(Holder(circle))
