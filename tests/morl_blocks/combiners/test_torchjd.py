import pytest
import torch
from torchjd import aggregation
from torchjd.aggregation import CAGradWeighting, MGDAWeighting, RandomWeighting, UPGrad, UPGradWeighting, Weighting

from morl_blocks import combine_gradients
from morl_blocks.combiners import TorchJD
from morl_blocks.combiners.torchjd import as_combiner
from tests.refusals import refused


@pytest.mark.parametrize("weighting", [UPGradWeighting(), MGDAWeighting(), CAGradWeighting(c=0.5)], ids=repr)
def test_any_weighting_gives_what_torchjd_gives_run_by_run(weighting: Weighting[torch.Tensor]) -> None:
    jacobian = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gramian = jacobian @ jacobian.mT
    expected = torch.stack([weighting(run).to(torch.float64) for run in gramian])
    torch.testing.assert_close(TorchJD(weighting).weights(gramian), expected, rtol=1e-4, atol=1e-5)


def test_randomness_comes_from_the_generator_and_leaves_the_global_state(monkeypatch: pytest.MonkeyPatch) -> None:
    reseeded: list[object] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", reseeded.append)
    gramian = torch.eye(3).expand(4, 3, 3)
    block = TorchJD(RandomWeighting(), seed=0)
    torch.manual_seed(5)
    reseeded.clear()
    before = torch.get_rng_state()
    first = block.weights(gramian, generator=torch.Generator().manual_seed(1))
    assert torch.equal(torch.get_rng_state(), before)
    assert not reseeded
    torch.manual_seed(6)
    torch.testing.assert_close(block.weights(gramian, generator=torch.Generator().manual_seed(1)), first)
    assert not torch.equal(first[0], first[1])


class Wrong(Weighting[torch.Tensor]):
    """A user's weighting that returns no weights."""

    def forward(self, stat: torch.Tensor, /) -> torch.Tensor:
        return stat


def test_bad_methods_and_input_are_named() -> None:
    refused("`method` must be an aggregator or a weighting of torchjd.aggregation, got 3", TorchJD, 3)
    refused(r"`method` must be an instance such as UPGrad\(\) of torchjd.aggregation", TorchJD, UPGrad)
    refused("`method` must be an aggregator or a weighting", TorchJD, lambda gramian: gramian)
    refused("`combiner` must be a Combiner such as PCGrad.., or an aggregator", as_combiner, lambda gramian: gramian)
    refused(r"`Wrong` must return 2 weights for a Gramian, got shape \[2, 2\]", TorchJD(Wrong()).weights, torch.eye(2))
    for method in (aggregation.ConFIG(), aggregation.MoDoWeighting()):
        refused("must see the gradients themselves", TorchJD(method).weights, torch.eye(3))
    remembers = TorchJD(aggregation.GradVacWeighting())
    assert remembers.weights(torch.eye(3)).shape == (3,)
    refused(r"must be one \[m, m\]: GradVacWeighting remembers", remembers.weights, torch.eye(3).expand(2, 3, 3))


NAMES = "UPGrad MGDA AlignedMTL DualProj IMTLG PCGrad Mean Sum Random GradVac ConFIG GradDrop ExcessMTL"
AGGREGATORS = [
    *(getattr(aggregation, name)() for name in NAMES.split()),
    aggregation.CAGrad(c=0.5),
    aggregation.Krum(n_byzantine=1, n_selected=1),
    aggregation.Constant(torch.tensor([1.0, 2.0, 3.0, 4.0])),
    aggregation.TrimmedMean(trim_number=1),
]


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=lambda a: type(a).__name__)
def test_any_aggregator_gives_what_torchjd_gives(aggregator: aggregation.Aggregator) -> None:
    jacobian = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    block = TorchJD(aggregator)
    seed = int(block.draw((4,), torch.Generator().manual_seed(3)))
    ours = block(jacobian, generator=torch.Generator().manual_seed(3))
    if hasattr(aggregator, "reset"):
        aggregator.reset()  # type: ignore[operator]
    torch.manual_seed(seed)
    torch.testing.assert_close(ours, aggregator(jacobian), rtol=1e-4, atol=1e-5)


def test_combine_gradients_takes_aggregators_and_weightings_as_they_are() -> None:
    matrix = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    expected = UPGrad()(matrix)
    for method in (UPGrad(), UPGradWeighting(), TorchJD(UPGrad())):
        x = torch.zeros(6, requires_grad=True)
        combine_gradients(matrix @ x, [x], method)
        torch.testing.assert_close(x.grad, expected, rtol=1e-4, atol=1e-5)
