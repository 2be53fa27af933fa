import torch

from morl_recipes.common.seeds import derive
from morl_recipes.learning.streams import Streams


def test_streams_of_a_run_do_not_depend_on_the_others() -> None:
    first, second = Streams([1, 2], "learning"), Streams([9, 2], "learning")
    assert torch.equal(first.normal(3)[1], second.normal(3)[1])
    assert not torch.equal(first.uniform(3)[0], second.uniform(3)[0])


def test_names_and_indices_make_different_seeds() -> None:
    seeds = {derive(0, name, index) for name in ("a", "b") for index in range(50)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**62 for seed in seeds)


def test_permutations_are_permutations() -> None:
    rows = Streams([0, 1], "learning").permutations(3, 8)
    assert rows.shape == (2, 3, 8)
    assert torch.equal(rows.sort(-1).values, torch.arange(8).expand(2, 3, 8))


def test_state_goes_on() -> None:
    stream = Streams([0, 1], "learning")
    stream.normal(5)
    state = stream.get_state()
    expected = stream.normal(5)
    other = Streams([7, 8], "learning")
    other.set_state(state)
    assert torch.equal(other.normal(5), expected)
