from collections.abc import Callable
from typing import Any

import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import Tensor, nn
from torchrl.modules import TanhNormal

from morl_blocks import combine_gradients
from morl_blocks.combiners import WeightedSum
from morl_blocks.critics import AttentionWeightedCritic, SharedCritic
from morl_blocks.ppo import (
    CategoricalActor,
    CategoricalPolicy,
    VectorClipPPOLoss,
    clipped_objectives,
    probability_ratio,
)
from tests.morl_blocks.ppo.parts import INPUTS, M, categorical_policy, critic_module, gaussian_policy, minibatch
from tests.refusals import refused


def test_a_ratio_is_held_where_it_would_overflow_and_does_not_move_there() -> None:
    log_prob = torch.tensor([0.5, 62.0, 63.0, 1e30], requires_grad=True)
    ratio = probability_ratio(log_prob, torch.zeros(4))
    (slope,) = torch.autograd.grad(ratio.sum(), log_prob)
    torch.testing.assert_close(ratio[:2], log_prob[:2].detach().exp())
    torch.testing.assert_close(ratio[2:], torch.full((2,), torch.finfo(torch.float32).max ** 0.7), rtol=1e-4, atol=0)
    torch.testing.assert_close(slope, torch.tensor([ratio[0].item(), ratio[1].item(), 0.0, 0.0]))


def test_runs_stay_apart_and_may_have_their_own_clip() -> None:
    log_prob, old, advantage = torch.randn(4, 16), torch.randn(4, 16), torch.randn(4, 16, M)
    clip = torch.tensor([0.1, 0.2, 0.3, 0.4])
    whole = clipped_objectives(log_prob, old, advantage, clip.unsqueeze(-1))
    lifted = torch.func.vmap(clipped_objectives)(log_prob, old, advantage, clip)
    compiled = torch.compile(torch.func.vmap(clipped_objectives), fullgraph=True, backend="aot_eager")
    for r in range(4):
        alone = clipped_objectives(log_prob[r], old[r], advantage[r], float(clip[r]))
        torch.testing.assert_close(whole[r], alone)
        torch.testing.assert_close(lifted[r], alone)
    torch.testing.assert_close(compiled(log_prob, old, advantage, clip), lifted)


def test_any_module_serves_as_critic() -> None:
    policy, anything = categorical_policy(), TensorDictModule(nn.Linear(4, M), ["observation"], ["state_value"])
    data = minibatch(policy)
    expected = 0.5 * (anything.module(data["observation"]) - data["value_target"]).square().mean()
    torch.testing.assert_close(VectorClipPPOLoss(policy, anything, critic_coeff=0.5)(data)["loss_value"], expected)


def in_a_sequence(critic: nn.Module) -> TensorDictSequential:
    encoder = TensorDictModule(nn.Identity(), ["observation"], ["features"])
    return TensorDictSequential(encoder, TensorDictModule(critic, ["features", "preference"], ["state_value"]))


class Inside(nn.Module):
    """A module without a loss around a critic that has one."""

    def __init__(self, critic: nn.Module) -> None:
        super().__init__()
        self.critic = critic
        self.forward = critic.forward


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda critic: TensorDictModule(Inside(critic), INPUTS, ["state_value"]),
        in_a_sequence,
        lambda critic: TensorDictSequential(in_a_sequence(critic)),
    ],
)
def test_the_critics_loss_is_found_wherever_it_sits(
    wrap: Callable[[nn.Module], TensorDictModule], weighted: bool
) -> None:
    policy, critic = categorical_policy(), critic_module(weighted=weighted)
    data = minibatch(policy)
    plain, wrapped = VectorClipPPOLoss(policy, critic), VectorClipPPOLoss(policy, wrap(critic.module))
    torch.testing.assert_close(wrapped(data)["loss_value"], plain(data)["loss_value"])
    assert ("attention" in wrapped.in_keys) == weighted


def test_reads_the_action_that_was_drawn() -> None:
    policy = gaussian_policy()
    data = minibatch(policy, 64)
    loss = VectorClipPPOLoss(policy, critic_module())
    assert "unit_action" in loss.in_keys
    assert "action" not in loss.in_keys
    data["action_log_prob"] = policy.get_dist(data).log_prob(data["unit_action"]).detach()
    assert loss(data)["kl_approx"] == pytest.approx(0, abs=1e-6)
    loss.set_keys(action="action")
    assert loss(data)["kl_approx"] > 0.1
    assert "action" in VectorClipPPOLoss(categorical_policy(), critic_module()).in_keys


def test_gradients_reach_their_own_network_only() -> None:
    policy, critic = gaussian_policy(), critic_module()
    loss = VectorClipPPOLoss(policy, critic)
    assert set(loss.parameters()) == {*policy.parameters(), *critic.parameters()}
    assert loss.get_stateful_net("actor_network") is policy
    losses = loss(minibatch(policy))
    losses["loss_value"].backward()
    assert all(p.grad is None for p in policy.parameters())
    assert all(p.grad is not None for p in critic.parameters())
    critic.zero_grad()
    combine_gradients(losses["loss_objective"], policy.parameters(), WeightedSum(), torch.tensor([0.5, 0.3, 0.2]))
    losses["loss_entropy"].backward()
    assert all(p.grad is not None for p in policy.parameters())
    assert all(p.grad is None for p in critic.parameters())
    for name in ("entropy", "kl_approx", "clip_fraction", "explained_variance"):
        assert not losses[name].requires_grad
    assert losses["explained_variance"].shape == (M,)


def test_keys_and_plain_tensors() -> None:
    policy = categorical_policy()
    data, loss = minibatch(policy), VectorClipPPOLoss(policy, critic_module())
    expected = loss(data)
    by_name = loss(**{key: data[key] for key in loss.in_keys})
    assert len(by_name) == len(loss.out_keys)
    torch.testing.assert_close(by_name[0], expected["loss_objective"])
    assert set(expected.keys()) == set(loss.out_keys)
    data.rename_key_("advantage", "a").rename_key_("value_target", "y").rename_key_("action_log_prob", "lp")
    loss.set_keys(advantage="a", value_target="y", sample_log_prob="lp")
    torch.testing.assert_close(loss(data)["loss_objective"], expected["loss_objective"])
    refused("color is not an accepted tensordict key", loss.set_keys, color="red")


def test_refuses_shapes_that_would_broadcast_unless_asked_for() -> None:
    loss, data = VectorClipPPOLoss(policy := categorical_policy(), critic_module()), minibatch(policy)
    for key, shape, message in (
        ("advantage", (16,), r"`advantage` must have shape \[16, 3\], got shape \[16\]"),
        ("advantage", (16, 1), r"`advantage` must have shape \[16, 3\], got shape \[16, 1\]"),
        ("advantage", (16, 4), r"`advantage` must have shape \[16, 3\], got shape \[16, 4\]"),
        ("value_target", (16,), r"`value_target` must have shape \[16, 'm'\], got shape \[16\]"),
        ("value_target", (16, 1), r"`state_value` must have shape \[16, 1\], got shape \[16, 3\]"),
        ("action_log_prob", (16, 1), r"`sample_log_prob` must have shape \[16\], got shape \[16, 1\]"),
    ):
        refused(message, loss, data.clone().set(key, torch.zeros(shape)))
    data["advantage"] = data["advantage"][:, :1]
    assert VectorClipPPOLoss(policy, critic_module(), num_advantages=1)(data)["loss_objective"].shape == (1,)


def test_refuses_missing_entries_and_a_single_step() -> None:
    policy = categorical_policy()
    data, loss = minibatch(policy), VectorClipPPOLoss(policy, critic_module())
    refused("`tensordict` must hold 'advantage'", loss, data.exclude("advantage"))
    refused("`tensordict` must hold 'observation', got", loss, data.exclude("observation"))
    refused("`tensordict` must have a batch dimension", loss, data[0])
    with pytest.raises(NotImplementedError, match="VectorGAE on the rollout"):
        loss.make_value_estimator()


def test_says_what_is_wrong_with_a_network_or_an_option() -> None:
    policy, critic = categorical_policy(), critic_module()
    refused("`actor_network` must be a tensordict module", VectorClipPPOLoss, CategoricalActor(4, M, 5), critic)
    refused("`actor_network` must .* get_dist, got TensorDictModule", VectorClipPPOLoss, critic, critic)
    refused("`critic_network` must be a tensordict module with .*", VectorClipPPOLoss, policy, critic.module)
    other = TensorDictModule(critic.module, INPUTS, ["v"])
    loss, data = VectorClipPPOLoss(policy, other), minibatch(policy)
    refused(r"`critic_network` must write 'state_value', got out_keys \['v'\]", loss, data)
    loss.set_keys(value="v")
    torch.testing.assert_close(loss(data)["loss_value"], VectorClipPPOLoss(policy, critic)(data)["loss_value"])
    first = TensorDictModule(AttentionWeightedCritic(SharedCritic(4, M)), INPUTS, ["other"])
    both = TensorDictSequential(first, critic)
    refused(r"`critic_network` must hold one critic with a loss, got \['Att.*', 'Sh", VectorClipPPOLoss, policy, both)

    for name, bad in (
        ("clip_epsilon", 0.0),
        ("num_advantages", 0),
        ("entropy_coeff", -0.5),
        ("critic_coeff", torch.inf),
    ):
        refused(f"`{name}` must", VectorClipPPOLoss, policy, critic, **{name: bad})


def test_entropy_without_closed_form_is_estimated() -> None:
    class Squashed(CategoricalPolicy):
        def get_dist(self, tensordict: TensorDict, *args: object, **kwargs: object) -> TanhNormal:
            loc = self[0](tensordict.select(*self[0].in_keys))["action_logits"]
            return TanhNormal(loc, torch.full_like(loc, 0.5))

    policy = Squashed(CategoricalActor(4, M, 2))
    data = minibatch(categorical_policy(), 4000)
    data["action"] = torch.zeros(4000, 2)
    torch.manual_seed(0)
    first = VectorClipPPOLoss(policy, critic_module())(data)["entropy"]
    second = VectorClipPPOLoss(policy, critic_module())(data)["entropy"]
    torch.testing.assert_close(first, second, atol=0.1, rtol=0)
    assert first != second


class Spoiled(nn.Module):
    """A critic of the user's own that has lost its numbers."""

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        return torch.full_like(preference, torch.nan)


def test_refuses_numbers_that_are_not_finite_and_another_attention() -> None:
    policy, critic = gaussian_policy(), TensorDictModule(Spoiled(), INPUTS, ["state_value"])
    data = minibatch(policy)
    data["attention"] = torch.ones(16, 1)
    for distance in ("l2", "l1"):
        options: dict[str, Any] = {"loss_critic_type": distance}
        refused("`state_value` must be finite, got nan", VectorClipPPOLoss(policy, critic, **options), data)
        loss = VectorClipPPOLoss(policy, critic_module(weighted=True), **options)
        refused(r"`attention` must have 3 objectives .*, got shape \[16, 1\]", loss, data)
        refused("must hold the attention|`attention` must be given", loss, data.exclude("attention"))
    data["state_value"] = torch.full((16, M), torch.nan)
    refused("`old state_value` must be finite", VectorClipPPOLoss(policy, critic_module(), clip_value=0.2), data)
    with torch.no_grad():
        policy[0].module.log_std.fill_(torch.nan)
    refused("`log_prob` must be finite, got nan", VectorClipPPOLoss(policy, critic_module()), data)
