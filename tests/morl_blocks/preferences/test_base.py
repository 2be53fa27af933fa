import pytest
import torch
from torch import Generator, Tensor

from morl_blocks.preferences import Given, PreferenceSampler
from tests.refusals import refused


class Constant(PreferenceSampler):
    """Return whatever it was made with."""

    def __init__(self, value: Tensor) -> None:
        super().__init__()
        self.value = value

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        return self.value


def test_a_sampler_that_leaves_the_simplex_or_has_the_wrong_length_is_named() -> None:
    refused("`Constant.draw` must sum to 1, got a sum of 1.1", Constant(torch.tensor([[0.5, 0.6]])), 1, 2)
    refused("`Constant.draw` must be >= 0, got -0.5", Constant(torch.tensor([[1.5, -0.5]])), 1, 2)
    refused(r"`Constant.draw` must return shape \[1, 2\], got shape", Constant(torch.tensor([[0.2, 0.3, 0.5]])), 1, 2)
    refused(r"`Constant.draw` must return shape \[1, 2\], got shape \[2\]", Constant(torch.tensor([0.5, 0.5])), 1, 2)


def test_a_sampler_needs_draw_has_the_default_dtype_and_checks_sizes() -> None:
    with pytest.raises(TypeError, match="draw"):
        PreferenceSampler()  # type: ignore[abstract]
    sampler = Constant(torch.tensor([[0.25, 0.75]], dtype=torch.float64))
    assert sampler(1, 2).dtype is torch.float32
    refused("`count` must be a whole number >= 1, got 0", sampler, 0, 2)
    refused("`num_objectives` must be a whole number >= 1, got 0", sampler, 1, 0)


def test_given_draws_nothing() -> None:
    generator = Generator().manual_seed(0)
    before = generator.get_state()
    refused(r"`preferences` must be a sampler such as Uniform\(\) to draw from", Given(), 1, 2, generator)
    assert torch.equal(before, generator.get_state())
