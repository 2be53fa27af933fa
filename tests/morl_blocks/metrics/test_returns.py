import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import discounted_returns
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

episodes = st.tuples(st.integers(1, 8), st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.floats(-5, 5)),
        arrays(np.bool_, shape[:2]),
        st.sampled_from([1.0, 0.99, 0.5]),
    )
)


@given(episodes)
def test_a_plain_loop_agrees(played: tuple[Array, Array, float]) -> None:
    rewards, done, gamma = played
    expected = np.zeros(rewards.shape[1:])
    for n in range(rewards.shape[1]):
        for t in range(len(rewards)):
            expected[n] += gamma**t * rewards[t, n]
            if done[t, n]:
                break
    over = np.cumsum(done, axis=0) - done > 0
    broken = np.where(over[..., None], np.nan, rewards)  # what follows an end is never read
    np.testing.assert_allclose(discounted_returns(broken, done, gamma), expected, atol=1e-12)
    tensors = torch.from_numpy(rewards).requires_grad_(), torch.from_numpy(done).unsqueeze(-1)
    np.testing.assert_allclose(discounted_returns(*tensors, gamma), expected, atol=1e-12)


def test_closed_form_and_bad_input_is_named() -> None:
    """Reward 1 for ever, gamma 0.99: 1,000 steps earn nearly 100."""
    alive = discounted_returns(np.ones((1000, 1, 2)), np.zeros((1000, 1), dtype=bool), gamma=0.99)
    np.testing.assert_allclose(alive, (1 - 0.99**1000) / 0.01)
    rewards, done = np.ones((3, 2, 2)), np.zeros((3, 2), dtype=bool)
    for gamma in (0.0, 1.5):
        refused(r"`gamma` must lie in \(0, 1\]", discounted_returns, rewards, done, gamma)
    for number in (True, np.array([0.9, 0.9])):
        refused("`gamma` must be a number", discounted_returns, rewards, done, number)
    refused(r"`rewards` must have shape \[T, N, m\] with T >= 1, got shape", discounted_returns, rewards[..., 0], done)
    refused(r"`done` must have shape \[3, 2\], got shape \[2, 3\]", discounted_returns, rewards, done.T)
