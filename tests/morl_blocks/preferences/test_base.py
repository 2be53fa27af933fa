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


def test_a_sampler_needs_draw() -> None:
    with pytest.raises(TypeError, match="draw"):
        PreferenceSampler()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[0.5, 0.6]], r"`Constant.draw` must sum to 1, got a sum of 1.1"),
        ([[1.5, -0.5]], r"`Constant.draw` must be >= 0, got -0.5"),
        ([[float("nan"), 1.0]], r"`Constant.draw` must be finite, got nan"),
        ([[0.2, 0.3, 0.5]], r"`Constant.draw` must return shape \[1, 2\], got shape \[1, 3\]"),
        ([0.5, 0.5], r"`Constant.draw` must return shape \[1, 2\], got shape \[2\]"),
    ],
)
def test_a_sampler_that_leaves_the_simplex_or_has_the_wrong_length_is_named(value: list[float], message: str) -> None:
    refused(message, Constant(torch.tensor(value)), 1, 2)


def test_a_draw_has_the_default_dtype() -> None:
    sampler = Constant(torch.tensor([[0.25, 0.75]], dtype=torch.float64))
    assert sampler(1, 2).dtype is torch.float32


@pytest.mark.parametrize(("name", "arguments"), [("count", (0, 2)), ("num_objectives", (1, 0))])
def test_sizes_are_checked(name: str, arguments: tuple[int, int]) -> None:
    refused(f"`{name}` must be a whole number >= 1, got 0", Constant(torch.ones(1, 1)), *arguments)


def test_given_draws_nothing() -> None:
    generator = Generator().manual_seed(0)
    before = generator.get_state()
    refused(r"`preferences` must be a sampler such as Uniform\(\) to draw from", Given(), 1, 2, generator)
    assert torch.equal(before, generator.get_state())
