import math

import pytest
import torch

from morl_blocks.metrics import non_dominated
from morl_blocks.problems import DTLZ2, VLMOP2, ZDT1, ZDT2, ZDT3, Problem
from tests.refusals import refused

pytestmark = pytest.mark.usefixtures("double_default")
PROBLEMS: dict[str, Problem] = {
    "VLMOP2": VLMOP2(3),
    "ZDT1": ZDT1(12),
    "ZDT2": ZDT2(12),
    "ZDT3": ZDT3(12),
    "DTLZ2 of 2": DTLZ2(2, 12),
    "DTLZ2 of 3": DTLZ2(3, 12),
    "DTLZ2 of 4": DTLZ2(4, 12),
}
# pymoo 0.6.2 at twelve evenly spaced variables from 0.03 to 0.97.
PYMOO = {
    "ZDT1": [0.03, 5.4643831482],
    "ZDT2": [0.03, 5.8843925116],
    "ZDT3": [0.03, 5.4401126384],
    "DTLZ2 of 3": [1.6461721586, 0.3018591458, 0.0789258849],
    "DTLZ2 of 4": [1.4813246556, 0.4836512919, 0.2857426104, 0.0747119598],
}


def test_values_of_pymoo_and_closed_forms() -> None:
    for name, values in PYMOO.items():
        found = PROBLEMS[name](torch.linspace(0.03, 0.97, 12))
        torch.testing.assert_close(found, torch.tensor(values), rtol=0, atol=1e-10)
    middle, end = VLMOP2(3)(torch.zeros(3)), VLMOP2(3)(torch.full((3,), 1 / math.sqrt(3)))
    torch.testing.assert_close(middle, torch.full((2,), 1 - math.exp(-1)))
    torch.testing.assert_close(end, torch.tensor([0.0, 1 - math.exp(-4)]))


@pytest.mark.parametrize("name", PROBLEMS)
def test_batches_are_rows_and_gradients_are_finite(name: str) -> None:
    problem = PROBLEMS[name]
    x = torch.rand(2, 3, problem.dimension, requires_grad=True)
    values = problem(x)
    assert values.shape == (2, 3, problem.num_objectives)
    torch.testing.assert_close(values[1, 2], problem(x[1, 2]))
    values.sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    low, high = problem.bounds
    assert low.shape == high.shape == (problem.dimension,)
    assert ((low <= x) & (x <= high)).all()


@pytest.mark.needs("moocore")
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_point_dominates_the_front(name: str) -> None:
    problem = PROBLEMS[name]
    front = problem.reference_front(200)
    assert front.shape == (200, problem.num_objectives)
    assert front.dtype == torch.float64
    assert len(non_dominated(-front)) >= 195  # the ends of ZDT3's pieces nearly rival each other
    low, high = problem.bounds
    x = low + (high - low) * torch.rand(20_000, problem.dimension, generator=torch.Generator().manual_seed(0))
    values = problem(x)
    assert not ((values[:, None] < front[None, ::10] - 1e-9).all(-1)).any()
    torch.set_default_dtype(torch.float32)
    assert problem.front(200).dtype == torch.float64


def test_points_of_a_front_are_reached_and_the_sphere_is_covered_evenly() -> None:
    x = torch.zeros(50, 12)
    x[:, 0] = torch.linspace(0, 1, 50)
    for problem in (ZDT1(12), ZDT2(12)):
        torch.testing.assert_close(problem(x), problem.reference_front(50))
    pieces = ZDT3(12).reference_front(50)
    x[:, 0] = pieces[:, 0]
    torch.testing.assert_close(ZDT3(12)(x), pieces)
    for m, reach in ((2, 0.003), (3, 0.12), (4, 0.3)):
        front = DTLZ2(m).reference_front(400)
        torch.testing.assert_close(front.norm(dim=-1), torch.ones(400))
        assert (front >= 0).all()
        anywhere = torch.randn(500, m, generator=torch.Generator().manual_seed(1)).abs()
        assert torch.cdist(anywhere / anywhere.norm(dim=-1, keepdim=True), front).min(-1).values.max() < reach


def test_bad_input() -> None:
    refused("`x` must have 30 numbers in its last dimension", ZDT1(), torch.zeros(4, 12))
    refused(r"`x` must lie in \[0, 1\], got -0.5", ZDT1(2), torch.tensor([-0.5, 0.0]))
    refused("`dimension` must be a whole number >= 2", ZDT2, 1)
    refused("`dimension` must be a whole number >= 3", DTLZ2, 3, 2)
    refused("`count` must be a whole number >= 2", VLMOP2().reference_front, 1)
    refused("`count` must be a whole number >= 5", DTLZ2(5).reference_front, 4)
