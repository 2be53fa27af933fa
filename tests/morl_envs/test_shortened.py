import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_envs import make_batch
from morl_envs.shortened import ShortenedEnv, discounted_horizon
from tests.refusals import refused

STILL = torch.zeros(2, 2)


def _env(horizon: int = 3) -> ShortenedEnv:
    return ShortenedEnv(make_batch("stealth", 2, [5, 6]), horizon)


def test_episodes_are_truncated_and_not_terminated_after_the_horizon_and_else_the_environment_s_own() -> None:
    plain, env = make_batch("stealth", 2, [5, 6]), _env()
    assert torch.equal(plain.reset_tensors(), env.reset_tensors())
    for step in range(1, 4):
        own, (*other, truncated) = plain.step_tensors(STILL)[:3], env.step_tensors(STILL)
        assert all(torch.equal(a, b) for a, b in zip(own, other, strict=True))
        assert truncated.tolist() == [[step == 3]] * 2
        assert not other[2].any()
    assert (env.num_envs, env.objectives, env.observation_dim) == (2, plain.objectives, plain.observation_dim)


def test_each_environment_counts_its_own_steps_and_the_state_holds_them() -> None:
    env, other = _env(), _env()
    env.step_tensors(STILL)
    env.reset_tensors(torch.tensor([True, False]))
    other.set_state(env.get_state())
    for truncated in ([False, False], [False, True]):
        own, its = env.step_tensors(STILL), other.step_tensors(STILL)
        assert all(torch.equal(a, b) for a, b in zip(own, its, strict=True))
        assert own[3].flatten().tolist() == truncated


def test_an_episode_that_the_environment_ends_is_not_truncated() -> None:
    env = ShortenedEnv(make_batch("deep-sea-treasure-v0", 1), 2)
    env.reset_tensors()
    env.step_tensors(torch.tensor([2]))
    _, _, terminated, truncated = env.step_tensors(torch.tensor([1]))
    assert bool(terminated) != bool(truncated)


def test_bad_horizons_and_the_ends_of_the_discounted_one() -> None:
    refused("`horizon` must be a whole number >= 1, got 0", _env, 0)
    refused("`horizon` must be no more than .* own 400, got 401", _env, 401)
    assert (discounted_horizon(0.0), discounted_horizon(1.0)) == (1, math.inf)
    refused(r"`rest` must lie in \(0, 1\), got 1.0", discounted_horizon, 0.9, 1.0)
    refused(r"`gamma` must lie in \[0, 1\], got 1.5", discounted_horizon, 1.5)
    env = _env(1)  # a first step begins an episode
    assert env.get_state()["shortened_step"].tolist() == [0, 0]
    assert env.step_tensors(STILL)[3].all()


@given(st.floats(0.01, 0.9999), st.floats(0.001, 0.9))
def test_the_discounted_horizon_is_the_first_step_that_leaves_no_more_than_the_rest(gamma: float, rest: float) -> None:
    steps = int(discounted_horizon(gamma, rest))
    assert gamma**steps <= rest * (1 + 1e-9)
    assert steps == 1 or gamma ** (steps - 1) > rest * (1 - 1e-9)
