from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from morl_envs.toy import ToyBatch, toy
from morl_recipes import PPO, EnvSource
from morl_recipes.learning.observations import ObservationScale
from morl_recipes.learning.rollout import InitialStates, Rollout, episode_returns
from morl_recipes.learning.targets import estimate, gae, targets_of
from morl_recipes.recipe import specs
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused


def test_episode_returns_equal_a_loop() -> None:
    torch.manual_seed(0)
    reward, done = torch.randn(2, 3, 20, 2), torch.rand(2, 3, 20, 1) < 0.2
    carry = torch.randn(2, 3, 2)
    mean, rest = episode_returns(reward, done, carry)
    for run in range(2):
        finished = []
        for env in range(3):
            total = carry[run, env].clone()
            for step in range(20):
                total += reward[run, env, step]
                if done[run, env, step]:
                    finished.append(total.clone())
                    total.zero_()
            torch.testing.assert_close(rest[run, env], total)
        torch.testing.assert_close(mean[run], torch.stack(finished).mean(0))

    assert episode_returns(reward, torch.zeros_like(done), carry)[0].isnan().all()


@pytest.fixture
def rollout() -> Rollout:
    """64 steps of one environment, in episodes of 10."""
    batch = trained(runs_of(tiny(), 1), 0, toy(horizon=10), num_envs=1)
    return batch.collector.collect(batch.actor.params, torch.zeros(1, 64, 1, 2), None)


def test_rollout_keeps_the_final_observation_and_starts_anew(rollout: Rollout) -> None:
    done = rollout.done[0, 0, :, 0]
    assert done.nonzero().flatten().tolist() == [9, 19, 29, 39, 49, 59]
    assert not rollout.terminated.any()
    assert bool((rollout.next_observation[0, 0, done, -1] == 1.0).all())  # the last number is the share of the episode
    after = rollout.inputs[0, 0, 1:][done[:-1]]
    assert bool((after[:, 3] == 0.0).all())
    assert bool((rollout.inputs[..., 4:] == 0.5).all())  # the preference


def test_a_time_limit_of_10_over_64_steps_leaks_nothing(rollout: Rollout) -> None:
    """Changing what happens after an episode's end changes no estimate before it; the limit itself bootstraps."""
    value, following = torch.randn(1, 64, 2), torch.randn(1, 64, 2)

    def advantages() -> Tensor:
        return estimate(rollout, value, following, torch.tensor([0.99]), torch.tensor([0.95]), PPO())[0]

    advantage = advantages()
    rollout.reward[:, :, 20:] += 100.0
    changed = advantages()
    assert torch.equal(advantage[:, :20], changed[:, :20])
    assert bool((changed[:, 20:60] > advantage[:, 20:60] + 50).all())
    following[:, 19] += 10.0  # the value of the final observation of the second episode
    bootstrapped = advantages()
    assert bool((bootstrapped[:, 10:20] > changed[:, 10:20]).all())
    assert torch.equal(bootstrapped[:, :10], changed[:, :10])
    assert torch.equal(bootstrapped[:, 20:], changed[:, 20:])


def test_an_episode_has_one_preference_from_its_first_step_to_what_follows_its_last() -> None:
    recipe = replace(tiny(), preferences=specs.Uniform())
    batch = trained(runs_of(recipe, 1), 0, toy(horizon=10), num_envs=2)
    before = batch.collector.preferences.clone()
    draws = batch.draw()
    rollout = batch.collector.collect(batch.actor.params, draws.noise, None, draws.preferences)
    assert draws.preferences is not None
    in_force, done = rollout.inputs[0, ..., -2:], rollout.done[0, ..., 0]
    assert torch.equal(rollout.next_inputs[0, ..., -2:], in_force)  # also where the episode ends
    assert torch.equal(in_force[:, 0], before[0])  # the episode that runs goes on as it began
    for env in range(2):
        expected = before[0, env]
        for step in range(32):
            assert torch.equal(in_force[env, step], expected)
            if done[env, step]:
                expected = draws.preferences[0, step, env]
        assert torch.equal(batch.collector.preferences[0, env], expected)
    assert int(done.sum()) == 6
    assert len(in_force.flatten(0, 1).unique(dim=0)) == 8


def test_a_vector_advantage_is_never_averaged() -> None:
    batch = trained(runs_of(tiny(), 1), 0)
    rollout = batch.collector.collect(batch.actor.params, torch.randn(1, 16, 4, 2), None)
    targets = targets_of(batch, rollout, gae(batch, rollout))
    assert targets.advantage.shape == (1, 64, 2)
    torch.testing.assert_close(targets.advantage.mean(1), torch.zeros(1, 2), atol=1e-5, rtol=0)
    torch.testing.assert_close(targets.advantage.std(1, correction=0), torch.ones(1, 2), atol=1e-4, rtol=0)
    assert not torch.allclose(targets.advantage[..., 0], targets.advantage[..., 1])


Step = tuple[Tensor, Tensor, Tensor, Tensor]


def _altered(change: Callable[[Step], Step]) -> EnvSource:
    class Altered(ToyBatch):
        def step_tensors(self, action: Tensor) -> Step:
            return change(super().step_tensors(action))

    return EnvSource("altered", Altered)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: (*s[:3], s[3].squeeze(-1)), r"`truncated` as \[2, 1\] truth values .*, got \[2\] of torch.bool"),
        (lambda s: (*s[:2], s[2].int(), s[3]), r"`terminated` as .*, got \[2, 1\] of torch.int32"),
        (lambda s: (s[0], s[1].sum(-1), *s[2:]), r"`reward` as \[2, 2\] numbers .*, got \[2\] of torch.float32"),
        (lambda s: (s[0][:, 1:], *s[1:]), r"`observation` as \[2, 4\] numbers .*, got \[2, 3\]"),
    ],
)
def test_a_step_of_another_shape_is_refused_and_never_broadcast(change: Callable[[Step], Step], message: str) -> None:
    """With two environments and two objectives each of these would fit somewhere."""
    refused(message, trained, runs_of(tiny(), 1), source=_altered(change), num_envs=2)


def test_double_precision_environments_train_like_single_precision_ones() -> None:
    def doubled(step: Step) -> Step:
        return step[0].double(), step[1].double(), *step[2:]

    plain, double = (trained(runs_of(tiny(), 1), 1, source) for source in (toy(), _altered(doubled)))
    assert torch.equal(plain.actor.params, double.actor.params)


def test_the_latest_of_each_run_are_kept_in_order_of_time() -> None:
    states = InitialStates(torch.tensor([[[1.0], [2.0]]] * 2), count=3)
    assert states.observation[0].flatten().tolist() == [1.0, 2.0, 1.0]  # the first episodes fill it
    observation = torch.arange(1.0, 13.0).reshape(2, 2, 3, 1)  # [R, E, T, n]
    begun = torch.zeros(2, 2, 3, 1, dtype=torch.bool)
    begun[0, 0, 0] = begun[0, 1, 0] = begun[0, 0, 2] = begun[0, 1, 2] = True
    states.keep(observation, begun)
    assert states.observation[0].flatten().tolist() == [4.0, 3.0, 6.0]
    assert states.observation[1].flatten().tolist() == [1.0, 2.0, 1.0]


def test_statistics_equal_those_of_all_observations() -> None:
    torch.manual_seed(0)
    parts = [torch.randn(2, 3, 20, 4) * 5 + 3 for _ in range(3)]
    scale = ObservationScale(runs=2, observation_dim=4)
    for part in parts:
        scale.update(part)
    rows = torch.cat([part.flatten(1, 2) for part in parts], dim=1)
    torch.testing.assert_close(scale.mean, rows.mean(1))
    torch.testing.assert_close(scale.variance, rows.var(1, correction=0))


def test_what_never_changes_is_no_signal() -> None:
    """Masses and lengths of a robot are observed too; rounding in their statistics must not reach the networks."""
    torch.manual_seed(0)
    constants = torch.tensor([8.907, 2.2619, 1e-3, -4.7518, 0.0, 100.1])
    scale = ObservationScale(runs=1, observation_dim=6)
    for _ in range(3):
        scale.update(constants.expand(1, 8, 256, 6))
    assert scale.apply(constants.expand(1, 1, 6)).abs().max() < 0.2
    assert scale.apply(torch.full((1, 1, 6), -1e9)).flatten().tolist() == [-10.0] * 6  # large values are clipped
