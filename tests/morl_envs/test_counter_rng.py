import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_envs.counter_rng import episode_key, mix, uniform

MASK = 2**64 - 1


def splitmix_finaliser(value: int) -> int:
    """Compute the published finaliser in plain integers: an independent oracle."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


@given(st.integers(-(2**63), 2**63 - 1))
def test_mix_is_the_splitmix_finaliser(value: int) -> None:
    assert int(mix(torch.tensor(value))) & MASK == splitmix_finaliser(value & MASK)
    published = {1: 0xE220A8397B1DCDAF, 2: 0x6E789E6AA1B965F4}  # the first outputs of SplitMix64 from state 0
    assert all(splitmix_finaliser(0x9E3779B97F4A7C15 * k & MASK) == output for k, output in published.items())


def test_uniform_looks_uniform_and_independent() -> None:
    key = episode_key(torch.arange(500), torch.zeros(500, dtype=torch.int64))
    numbers = uniform(key, 0, 400)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = torch.histc(numbers, 20, 0, 1)
    assert (counts - 10_000).abs().max() < 5 * 10_000**0.5
    assert torch.corrcoef(numbers[:, :10].T).fill_diagonal_(0).abs().max() < 0.2
    assert torch.corrcoef(numbers[:10]).fill_diagonal_(0).abs().max() < 0.25


def test_numbers_depend_only_on_their_own_seed_episode_and_counter() -> None:
    seed, episode = torch.tensor([3, 4, 3]), torch.tensor([0, 0, 1])
    together = uniform(episode_key(seed, episode), torch.tensor([7, 0, 2**33]), 5)
    for row, start in enumerate([7, 0, 2**33]):
        alone = uniform(episode_key(seed[row : row + 1], episode[row : row + 1]), start, 5)
        assert torch.equal(together[row], alone[0])
    assert together.unique().numel() == together.numel()
