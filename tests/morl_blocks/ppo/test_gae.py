from typing import Any, TypeAlias

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.objectives.value import GAE

from morl_blocks.ppo import VectorGAE, vector_gae
from morl_blocks.ppo.scan import discounted_scan
from tests.morl_blocks.ppo.parts import Body, M, rollout
from tests.refusals import refused

Rollout: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def loop_gae(
    reward: Tensor, value: Tensor, next_value: Tensor, terminated: Tensor, done: Tensor, gamma: float, lmbda: float
) -> Tensor:
    """Walk backwards through time, one objective at a time, in plain Python."""
    advantage = torch.zeros_like(reward)
    for i in range(reward.shape[-1]):
        carry = torch.zeros(reward.shape[:-2], dtype=reward.dtype)
        for t in reversed(range(reward.shape[-2])):
            alive, going = 1.0 - terminated[..., t, 0].to(carry), 1.0 - done[..., t, 0].to(carry)
            delta = reward[..., t, i] + gamma * alive * next_value[..., t, i] - value[..., t, i]
            carry = delta + gamma * lmbda * going * carry
            advantage[..., t, i] = carry
    return advantage


def random_rollout(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Rollout:
    generator = torch.Generator().manual_seed(seed)
    reward, value, next_value = (torch.randn(*shape, generator=generator, dtype=dtype) for _ in range(3))
    done = torch.rand(*shape[:-1], 1, generator=generator) < 0.2
    terminated = done & (torch.rand(done.shape, generator=generator) < 0.5)
    return reward, value, next_value, terminated, done


def as_tensordict(reward: Tensor, value: Tensor, next_value: Tensor, terminated: Tensor, done: Tensor) -> TensorDict:
    after = {"state_value": next_value, "reward": reward, "terminated": terminated, "done": done}
    return TensorDict({"state_value": value, "next": after}, batch_size=reward.shape[:-1])


REWARD, VALUE = torch.tensor([[1.0], [0.0], [2.0]]).double(), torch.tensor([[0.5], [0.4], [0.3]]).double()
NEXT_VALUE = torch.tensor([[0.4], [0.3], [0.2]]).double()
NEVER, AT_LAST = torch.zeros(3, 1, dtype=torch.bool), torch.tensor([[False], [False], [True]])


@pytest.mark.parametrize(
    ("terminated", "expected"),
    [(NEVER, [2.47798589, 1.682069, 1.898]), (AT_LAST, [2.30284692, 1.49585, 1.7])],
    ids=["rollout end", "termination"],
)
def test_closed_form_and_what_follows_a_termination_is_not_read(terminated: Tensor, expected: list[float]) -> None:
    following = torch.where(terminated, torch.nan, NEXT_VALUE)
    advantage, target = vector_gae(REWARD, VALUE, following, terminated, terminated, 0.99, 0.95)
    want = torch.tensor(expected).double().unsqueeze(-1)
    torch.testing.assert_close(advantage, want, atol=1e-7, rtol=0)
    torch.testing.assert_close(target, want + VALUE, atol=1e-7, rtol=0)


@pytest.mark.parametrize("reading", [{"time_limit": "terminal"}, {"mask": "next"}], ids=str)
def test_other_readings_of_the_ends(reading: dict[str, Any]) -> None:
    reward, value, next_value, terminated, done = random_rollout(3, 20, 2)
    last, ends = (torch.cat([end[:, 1:], end[:, -1:]], 1) for end in (terminated, done))
    shown = (done, done) if "time_limit" in reading else (last, ends)
    got = vector_gae(reward, value, next_value, terminated, done, 0.99, 0.95, **reading)[0]
    torch.testing.assert_close(got, loop_gae(reward, value, next_value, *shown, 0.99, 0.95))
    assert not torch.allclose(got, loop_gae(reward, value, next_value, terminated, done, 0.99, 0.95))
    block = VectorGAE(gamma=0.99, lmbda=0.95, **reading).double()
    torch.testing.assert_close(block(as_tensordict(reward, value, next_value, terminated, done))["advantage"], got)


@given(st.integers(1, 70), st.integers(1, 4), st.floats(0, 1), st.floats(0, 1), st.integers(0, 1000))
def test_matches_the_plain_loop(horizon: int, m: int, gamma: float, lmbda: float, seed: int) -> None:
    rollout = random_rollout(2, horizon, m, seed=seed)
    advantage, target = vector_gae(*rollout, gamma, lmbda)
    expected = loop_gae(*rollout, gamma, lmbda)
    torch.testing.assert_close(advantage, expected, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(target, expected + rollout[1], atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("kind", ["truncated", "terminated"])
def test_a_bad_number_stays_in_its_episode(bad: float, kind: str) -> None:
    reward, value, next_value, _, _ = random_rollout(2, 30, 2)
    done = torch.zeros(2, 30, 1, dtype=torch.bool)
    done[:, 9::10] = True
    terminated = done if kind == "terminated" else torch.zeros_like(done)
    clean, _ = vector_gae(reward, value, next_value, terminated, done, 0.99, 0.95)
    reward[0, 14, 0] = bad  # in the second of three episodes
    advantage, target = vector_gae(reward, value, next_value, terminated, done, 0.99, 0.95)
    spoiled = torch.zeros(2, 30, 2, dtype=torch.bool)
    spoiled[0, 10:15, 0] = True  # its episode up to it: neither more nor less
    assert torch.equal(~advantage.isfinite(), spoiled)
    assert torch.equal(~target.isfinite(), spoiled)
    assert torch.equal(advantage[~spoiled], clean[~spoiled])


@pytest.mark.parametrize("gamma", [0.0, 0.99, 1.0])
def test_long_float32_horizons_stay_exact(gamma: float) -> None:
    reward, value, next_value, _, _ = random_rollout(2, 4096, 2)
    never = torch.zeros(2, 4096, 1, dtype=torch.bool)
    exact = loop_gae(reward, value, next_value, never, never, gamma, 0.95)
    advantage, _ = vector_gae(reward.float(), value.float(), next_value.float(), never, never, gamma, 0.95)
    assert advantage.dtype == torch.float32
    torch.testing.assert_close(advantage.double(), exact, atol=2e-5, rtol=1e-5)


def test_compiles_without_graph_breaks_and_an_undiscounted_sum_is_exact() -> None:
    rollout = random_rollout(2, 20, 3, dtype=torch.float32)
    compiled = torch.compile(vector_gae, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*rollout, 0.99, 0.95), vector_gae(*rollout, 0.99, 0.95))
    total = discounted_scan(torch.ones(4096, 1), torch.ones(4096, 1))
    assert torch.equal(total.squeeze(-1), torch.arange(4096.0, 0.0, -1.0))
    refused("`decay` must have shape", discounted_scan, torch.ones(3, 1), torch.ones(1, 1))


def test_one_discount_per_objective() -> None:
    rollout = random_rollout(2, 30, 3)
    gamma = torch.tensor([0.5, 0.9, 0.99], dtype=torch.float64)
    advantage, _ = vector_gae(*rollout, gamma, 0.95)
    module = VectorGAE(gamma=gamma)(as_tensordict(*rollout))["advantage"]
    for i in range(3):
        torch.testing.assert_close(advantage[..., i], loop_gae(*rollout, float(gamma[i]), 0.95)[..., i])
    torch.testing.assert_close(module, advantage, atol=1e-6, rtol=1e-6)  # the module's discount is float32


def test_vmap_over_runs_with_their_own_discounts() -> None:
    rollout = random_rollout(3, 40, 2)
    gamma, lmbda = torch.tensor([0.9, 0.99, 1.0]).double(), torch.tensor([0.9, 0.95, 1.0]).double()
    lifted, _ = torch.func.vmap(vector_gae)(*rollout, gamma, lmbda)
    for r in range(3):
        reward, value, next_value, terminated, done = (x[r] for x in rollout)
        alone, _ = vector_gae(reward, value, next_value, terminated, done, float(gamma[r]), float(lmbda[r]))
        torch.testing.assert_close(lifted[r], alone)
    broadcast, _ = vector_gae(*rollout, gamma[:, None, None], lmbda[:, None, None])
    torch.testing.assert_close(broadcast, lifted)


class TestVectorGAE:
    def critic(self, *in_keys: str) -> TensorDictModule:
        in_keys = in_keys or ("observation",)
        size = sum({"observation": 4, "preference": M}[key] for key in in_keys)
        return TensorDictModule(Body(nn.Linear(size, M)), list(in_keys), ["state_value"])

    def test_calls_the_network_and_stores_values_without_gradient(self) -> None:
        critic, data = self.critic(), rollout(3, 10)
        VectorGAE(value_network=critic)(data)
        value = critic.module(data["observation"])
        next_value = critic.module(data["next", "observation"])
        ends = data["next", "terminated"], data["next", "done"]
        expected, target = vector_gae(data["next", "reward"], value, next_value, *ends, 0.99, 0.95)
        torch.testing.assert_close(data["advantage"], expected)
        torch.testing.assert_close(data["value_target"], target)
        torch.testing.assert_close(data["next", "state_value"], next_value)
        assert not data["advantage"].requires_grad
        assert all(p.requires_grad for p in critic.parameters())

    def test_takes_other_parameters(self) -> None:
        critic, data = self.critic(), rollout(10)
        zeros = TensorDict.from_module(critic).data.clone().zero_()
        VectorGAE(value_network=critic)(data, params=zeros)
        assert not data["state_value"].any()
        assert not data["next", "state_value"].any()
        assert VectorGAE(value_network=critic)(data)["state_value"].all()

    def test_the_root_preference_serves_the_next_step_that_has_none(self) -> None:
        data = rollout(10)
        critic, alone = self.critic("observation", "preference"), self.critic("preference")
        VectorGAE(value_network=critic)(data)
        expected = critic.module(data["next", "observation"], data["preference"])
        torch.testing.assert_close(data["next", "state_value"], expected)
        assert "preference" not in data["next"]
        VectorGAE(value_network=alone)(data)
        assert torch.equal(data["state_value"], data["next", "state_value"])
        data["next", "preference"] = 1 - data["preference"]
        VectorGAE(value_network=critic)(data)
        expected = critic.module(data["next", "observation"], 1 - data["preference"])
        torch.testing.assert_close(data["next", "state_value"], expected)

    @pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool, torch.float16, torch.float64])
    def test_the_discounts_survive_any_type_of_reward(self, dtype: torch.dtype) -> None:
        reward, value, next_value, terminated, done = random_rollout(2, 10, 2, dtype=torch.float32)
        reward = reward.round().to(dtype)
        data = VectorGAE()(as_tensordict(reward, value, next_value, terminated, done))
        expected = loop_gae(reward.float(), value, next_value, terminated, done, 0.99, 0.95)
        torch.testing.assert_close(data["advantage"], expected, check_dtype=False)
        assert data["advantage"].dtype == (torch.float64 if dtype == torch.float64 else torch.float32)

    def test_time_dimension(self) -> None:
        tensors = random_rollout(3, 10, 2, dtype=torch.float32)
        expected = VectorGAE()(as_tensordict(*tensors))["advantage"]
        swapped = as_tensordict(*(x.transpose(0, 1) for x in tensors))
        by_argument = VectorGAE()(swapped.copy(), time_dim=0)["advantage"]
        by_constructor = VectorGAE(time_dim=0)(swapped.copy())["advantage"]
        swapped.names = ["time", None]
        by_name = VectorGAE()(swapped)["advantage"]
        for advantage in (by_argument, by_constructor, by_name):
            torch.testing.assert_close(advantage.transpose(0, 1), expected)

    def test_keys_plain_tensors_and_value_estimate(self) -> None:
        tensors = random_rollout(10, 2, dtype=torch.float32)
        data = as_tensordict(*tensors)
        target = VectorGAE().value_estimate(data)
        assert "advantage" not in data
        expected = VectorGAE()(as_tensordict(*tensors))
        torch.testing.assert_close(target, expected["value_target"])
        names = ("next_reward", "state_value", "next_state_value", "next_terminated", "next_done")
        plain = VectorGAE()(**dict(zip(names, tensors, strict=True)))
        torch.testing.assert_close(list(plain), [expected["advantage"], target])
        data.rename_key_("state_value", "v")
        data["next"].rename_key_("state_value", "v").rename_key_("reward", "r")
        data["next"].rename_key_("done", "d").rename_key_("terminated", "t")
        gae = VectorGAE()
        gae.set_keys(value="v", reward="r", done="d", terminated="t", advantage=("out", "a"), value_target="y")
        assert torch.equal(gae(data)["out", "a"], expected["advantage"])
        assert "y" in data
        assert gae.out_keys == [("out", "a"), "y"]

    def test_multi_step_rewards_are_discounted_as_in_torchrl(self) -> None:
        data = as_tensordict(*random_rollout(2, 10, 1, dtype=torch.float32))
        data["steps_to_next_obs"] = torch.randint(1, 4, (2, 10, 1))
        expected = GAE(gamma=0.9, lmbda=0.95, value_network=None, vectorized=False)(data.clone())["advantage"]
        torch.testing.assert_close(VectorGAE(gamma=0.9)(data)["advantage"], expected)
        data["steps_to_next_obs"] = torch.ones(2, 10)
        refused("`steps_to_next_obs` must have shape", VectorGAE(), data)

    def test_refuses_shapes_that_would_broadcast(self) -> None:
        cases: tuple[tuple[Any, tuple[int, ...], str], ...] = (
            (("next", "reward"), (10,), r"`reward` must have shape \[10, 'm'\], got shape \[10\]"),
            (("next", "reward"), (10, 1), r"`reward` must have shape \[10, 2\], got shape \[10, 1\]"),
            ("state_value", (10, 1), r"`state_value` must have shape \[10, 2\], got shape \[10, 1\]"),
            (("next", "state_value"), (10, 3), r"`next state_value` must have shape \[10, 2\]"),
            (("next", "done"), (10, 2), r"`done` must have shape \[10, 1\], got shape \[10, 2\]"),
            (("next", "terminated"), (10,), r"`terminated` must have shape \[10, 1\], got shape \[10\]"),
        )
        for key, shape, message in cases:
            data = as_tensordict(*random_rollout(10, 2))
            data[key] = torch.zeros(shape, dtype=data[key].dtype)
            refused(message, VectorGAE(), data)

    def test_refuses_missing_or_odd_entries_and_options(self) -> None:
        data = as_tensordict(*random_rollout(10, 2))
        refused(r"`tensordict` must hold \('next', 'terminated'\)", VectorGAE(), data.exclude(("next", "terminated")))
        refused("`tensordict` must hold 'state_value'", VectorGAE(), data.exclude("state_value"))
        refused("`tensordict` must have a batch dimension", VectorGAE(), data[0])
        refused("`time_limit` must be one of 'bootstrap', 'terminal', got 'end'", VectorGAE, time_limit="end")
        refused("`mask` must be one of 'step', 'next', got 'last'", VectorGAE, mask="last")
        refused(r"`gamma` must lie in \[0, 1\], got 1\.5", VectorGAE, gamma=1.5)
        refused(r"`lmbda` must lie in \[0, 1\]", VectorGAE, lmbda=-0.1)
        refused(r"`gamma` must broadcast to shape \[2\], got", VectorGAE(gamma=torch.tensor([0.9, 0.9, 0.9])), data)
        whole = data.clone().set(("next", "state_value"), data["next", "state_value"].long())
        refused(r"`next state_value` must be floating point, got torch\.int64", VectorGAE(), whole)
        data["next", "done"] = data["next", "done"].float()
        refused(r"`done` must be bool, got torch\.float32", VectorGAE(), data)

    def test_says_what_is_wrong_with_the_network(self) -> None:
        data, critic = rollout(10), self.critic()
        refused("`value_network` must be a tensordict module with .*", VectorGAE, value_network=nn.Linear(2, 2))
        refused("`tensordict` must hold", VectorGAE(value_network=critic), data.exclude(("next", "observation")))
        refused("`tensordict` must hold 'observation'", VectorGAE(value_network=critic), data.exclude("observation"))
        refused(r"`tensordict` must hold \('next', 'reward'\)", VectorGAE(value_network=critic), data.exclude("next"))
        other = TensorDictModule(critic.module, ["observation"], ["v"])
        refused(r"`value_network` must write 'state_value', got out_keys \['v'\]", VectorGAE(value_network=other), data)
        gae = VectorGAE(value_network=other)
        gae.set_keys(value="v")
        torch.testing.assert_close(gae(data)["v"], critic.module(data["observation"]))

    def test_what_a_reading_never_reads_may_be_anything(self) -> None:
        (reward, value, next_value), never = torch.rand(3, 4, 2), torch.zeros(4, 1).bool()
        done = torch.tensor([[False], [True], [False], [False]])
        next_value[1] = torch.nan  # behind a time limit
        shifted = next_value.roll(-1, 0)  # the step before has its end
        limit, ends = (reward, value, next_value, never, done), (reward, value, shifted, done, done)
        steps_first = as_tensordict(*(x.unsqueeze(1) for x in ends))
        for data in (
            VectorGAE(time_limit="terminal")(as_tensordict(*limit)),
            VectorGAE(mask="next")(as_tensordict(*ends)),
            VectorGAE(mask="next", time_dim=0)(steps_first),
        ):
            assert data["advantage"].isfinite().all()
        message = "`next state_value` must be finite, got nan"
        refused(message, VectorGAE(), as_tensordict(*limit))
        refused(message, VectorGAE(mask="next"), as_tensordict(reward, value, next_value, done, done))

    def test_an_overflow_names_its_largest_input(self) -> None:
        (reward, value, next_value), never = torch.rand(3, 4, 2), torch.zeros(4, 1).bool()
        value[0], next_value[0] = -3e38, 3.3e38
        for factor, message in ((1, r"`next state_value` .*, got 3\.3e"), (3.4 / 3, r"`state_value` .*, got 3\.4e")):
            refused(message, VectorGAE(), as_tensordict(reward, factor * value, next_value, never, never))
