"""What TorchRL users set on ``ClipPPOLoss`` and ``GAE`` works here, and agrees with TorchRL objective by objective."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential, set_skip_existing
from torch import Tensor, nn
from torchrl.data import Categorical, OneHot, Unbounded
from torchrl.modules import ActorValueOperator, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from morl_blocks.combiners import Sum
from morl_blocks.critics import BranchedCritic
from morl_blocks.ppo import (
    CategoricalActor,
    CategoricalPolicy,
    UnitBoxPolicy,
    VectorClipPPOLoss,
    VectorGAE,
    combine_gradients,
    vector_advantage,
)
from morl_blocks.scalarizers import SmoothTchebycheff, Tchebycheff
from tests.morl_blocks.ppo.parts import (
    INPUTS,
    Body,
    M,
    categorical_policy,
    critic_module,
    gaussian_policy,
    minibatch,
    rollout,
)
from tests.refusals import refused

Policy: TypeAlias = CategoricalPolicy | UnitBoxPolicy


def column(data: TensorDict, i: int) -> TensorDict:
    """Return the minibatch of objective i alone, as TorchRL's scalar loss reads it."""
    alone = data.clone()
    for key in ("advantage", "value_target", "state_value"):
        alone[key] = data[key][..., i : i + 1]
    return alone


def torchrl_loss(actor: Policy, network: TensorDictModule, i: int, **options: Any) -> ClipPPOLoss:
    picked = TensorDictModule(lambda values: values[..., i : i + 1], ["all_values"], ["state_value"])
    critic = TensorDictSequential(TensorDictModule(network.module, INPUTS, ["all_values"]), picked)
    loss = ClipPPOLoss(actor, critic, functional=False, entropy_coeff=0.01, critic_coeff=0.5, **options)
    loss.set_keys(action="unit_action" if isinstance(actor, UnitBoxPolicy) else "action")
    return loss


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("kind", ["l2", "l1", "smooth_l1"])
@pytest.mark.parametrize("clip_value", [None, 0.1, True])
@pytest.mark.parametrize(("make_policy", "batch"), [(categorical_policy, (16,)), (gaussian_policy, (4, 8))])
def test_each_objective_is_torchrls_loss(
    reduction: str, kind: str, clip_value: float | bool | None, make_policy: Callable[[], Policy], batch: tuple[int]
) -> None:
    torch.manual_seed(0)
    actor, network = make_policy(), critic_module()
    data = minibatch(actor, *batch)
    options: dict[str, Any] = {"reduction": reduction, "loss_critic_type": kind, "clip_value": clip_value}
    ours = VectorClipPPOLoss(actor, network, **options)(data)
    theirs = [torchrl_loss(actor, network, i, **options)(column(data, i)) for i in range(M)]
    objectives = torch.stack([loss["loss_objective"].squeeze() for loss in theirs])
    torch.testing.assert_close(ours["loss_objective"], objectives)
    values = torch.stack([loss["loss_critic"].squeeze() for loss in theirs]).mean()
    torch.testing.assert_close(ours["loss_critic"], values)
    torch.testing.assert_close(ours["loss_entropy"], theirs[0]["loss_entropy"].squeeze())
    if clip_value is not None:
        shares = torch.stack([loss["value_clip_fraction"].squeeze() for loss in theirs])
        torch.testing.assert_close(ours["value_clip_fraction"], shares.mean())
    torch.testing.assert_close(ours["clip_fraction"], theirs[0]["clip_fraction"].float())
    parameters = list(actor.parameters())
    for mine, scalar in zip(ours["loss_objective"], objectives, strict=True):
        gradient = torch.autograd.grad(mine, parameters, retain_graph=True, allow_unused=True)
        expected = torch.autograd.grad(scalar, parameters, retain_graph=True, allow_unused=True)
        torch.testing.assert_close(gradient, expected)
    gradient = torch.autograd.grad(ours["loss_value"], network.module.trunk[0].weight, retain_graph=True)[0]
    torch.testing.assert_close(gradient, torch.autograd.grad(values, network.module.trunk[0].weight)[0])


@pytest.mark.parametrize("kind", ["l2", "l1", "smooth_l1"])
def test_another_distance_keeps_the_attention(kind: Any) -> None:
    actor, network = categorical_policy(), critic_module(weighted=True)
    data = minibatch(actor)
    loss = VectorClipPPOLoss(actor, network, loss_critic_type=kind, critic_coeff=1.0)(data)["loss_value"]
    gaps = (network(data.clone())["state_value"] - data["value_target"]).abs()
    errors = {"l2": gaps.square(), "l1": gaps, "smooth_l1": torch.where(gaps < 1, gaps.square() / 2, gaps - 0.5)}[kind]
    torch.testing.assert_close(loss, (data["attention"] * errors).sum(-1).mean())


def test_normalize_advantage_keeps_the_objectives_apart() -> None:
    actor, network = categorical_policy(), critic_module()
    data = minibatch(actor)
    data["advantage"] = data["advantage"] * torch.tensor([1.0, 10.0, 100.0]) + 5
    normalized = data.clone().set("advantage", vector_advantage(data["advantage"]))
    ours = VectorClipPPOLoss(actor, network, normalize_advantage=True)(data)["loss_objective"]
    torch.testing.assert_close(ours, VectorClipPPOLoss(actor, network)(normalized)["loss_objective"])


def test_loss_critic_is_a_second_name_and_without_entropy_bonus_there_is_no_entropy_loss() -> None:
    actor, network = categorical_policy(), critic_module()
    losses = VectorClipPPOLoss(actor, network)(minibatch(actor))
    assert losses["loss_critic"] is losses["loss_value"]
    assert losses.get("loss_critic") is losses["loss_value"]
    named = [key for key in losses.keys() if key.startswith("loss_")]  # noqa: SIM118 - a tensordict
    assert named == ["loss_objective", "loss_value", "loss_entropy"]
    without = VectorClipPPOLoss(actor, network, entropy_bonus=False)
    losses = without(minibatch(actor))
    assert set(losses.keys()) == set(without.out_keys)
    assert "loss_entropy" not in losses
    assert losses["entropy"] > 0


def test_coefficients_are_buffers_on_the_device_and_can_be_scheduled() -> None:
    actor, network = categorical_policy(), critic_module()
    loss = VectorClipPPOLoss(actor, network, clip_epsilon=0.3)
    assert loss.state_dict()["clip_epsilon"] == pytest.approx(0.3)
    data = minibatch(actor)
    before = loss(data)["clip_fraction"]
    loss.clip_epsilon = 0.01  # type: ignore[assignment]  # TorchRL copies it into the buffer
    assert loss(data)["clip_fraction"] > before
    assert VectorGAE(device="meta").gamma.device.type == "meta"


def test_refuses_what_makes_no_sense_by_name() -> None:
    class Own(BranchedCritic):
        def loss(self, values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
            return (values - targets).abs().amax()

    actor, network = categorical_policy(), critic_module()
    own = TensorDictModule(Own(4, M), INPUTS, ["state_value"])
    assert VectorClipPPOLoss(actor, own).loss_critic_type == "l2"
    refused("`loss_critic_type` must be 'l2' for Own", VectorClipPPOLoss, actor, own, loss_critic_type="l1")
    refused(r"`reduction` must be 'mean' or 'sum' \(a", VectorClipPPOLoss, actor, network, reduction="none")
    refused("`loss_critic_type` must be one of", VectorClipPPOLoss, actor, network, loss_critic_type="huber")
    refused("`clip_value` must be > 0", VectorClipPPOLoss, actor, network, clip_value=-0.1)
    refused(r"`functional` must be False \(the parameters stay", VectorClipPPOLoss, actor, network, functional=True)
    refused("`separate_losses` must be False", VectorClipPPOLoss, actor, network, separate_losses=True)
    refused("each objective is", VectorClipPPOLoss, actor, network, normalize_advantage_exclude_dims=(-1,))
    for flag in ("entropy_bonus", "normalize_advantage"):
        refused(f"`{flag}` must be True or False", VectorClipPPOLoss, actor, network, **{flag: float("nan")})
    for flag in ("shifted", "skip_existing", "differentiable"):
        refused(f"`{flag}` must be True or False", VectorGAE, **{flag: float("nan")})
    refused(r"`average_gae` must be False \(one mean over all objectives; use vec", VectorGAE, average_gae=True)
    with pytest.raises(TypeError, match="VectorClipPPOLoss has no option 'clip_epsilo'"):
        VectorClipPPOLoss(actor, network, clip_epsilo=0.1)
    VectorClipPPOLoss(actor, network, functional=False, separate_losses=False)  # harmless
    VectorGAE(average_gae=False, vectorized=True)


def test_a_shared_trunk_is_read_fresh_by_the_critics_head() -> None:
    torch.manual_seed(0)
    trunk = TensorDictModule(Body(nn.Linear(4 + M, 8), nn.Tanh()), INPUTS, ["hidden"])
    head = ProbabilisticActor(
        TensorDictModule(nn.Linear(8, 5), ["hidden"], ["logits"]),
        in_keys=["logits"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )
    both = ActorValueOperator(trunk, head, ValueOperator(nn.Linear(8, M), in_keys=["hidden"]))
    actor = both.get_policy_operator()
    data = minibatch(actor)
    data["hidden"] = torch.full_like(data["hidden"], torch.nan)  # what the rollout holds is old
    by_head = VectorClipPPOLoss(actor, both.get_value_head())
    whole = VectorClipPPOLoss(actor, both.get_value_operator())
    assert "hidden" not in by_head.in_keys
    values = {loss: loss(data)["loss_value"] for loss in (by_head, whole)}
    torch.testing.assert_close(values[by_head], values[whole])
    gradients = [torch.autograd.grad(value, trunk.module[0].weight)[0] for value in values.values()]
    torch.testing.assert_close(*gradients)
    losses = by_head(data)
    combine_gradients(losses["loss_objective"], actor.parameters(), Sum())
    actors = trunk.module[0].weight.grad.clone()
    losses["loss_critic"].backward()
    torch.testing.assert_close(trunk.module[0].weight.grad, actors + gradients[0])


class Values(nn.Module):
    """A critic of the observation that counts how often, and on how many rows, it is called."""

    def __init__(self, count: int = M) -> None:
        super().__init__()
        self.linear = nn.Linear(4, count)
        self.rows: list[int] = []

    def forward(self, observation: Tensor) -> Tensor:
        self.rows.append(observation.shape[:-1].numel())
        return torch.tanh(self.linear(observation))


@pytest.mark.parametrize("batch", [(12,), (3, 12)])
def test_shifted_asks_once_and_says_the_same(batch: tuple[int, ...]) -> None:
    network = TensorDictModule(Values(), ["observation"], ["state_value"])
    data = rollout(*batch)
    twice = VectorGAE(value_network=network)(data.clone())
    network.module.rows.clear()
    once = VectorGAE(value_network=network, shifted=True)(data.clone())
    ends = data["next", "done"].squeeze(-1).clone()
    ends[..., -1] = True
    assert network.module.rows == [data.numel() + int(ends.sum())]
    for key in ("advantage", "value_target", "state_value", ("next", "state_value")):
        torch.testing.assert_close(once[key], twice[key])
    two, estimator = TensorDict.from_module(network), VectorGAE(value_network=network, shifted=True)
    refused("`shifted` must be False with multi-step", estimator, data, params=two, target_params=two)


def test_skip_existing_reads_what_is_there() -> None:
    network = TensorDictModule(Values(), ["observation"], ["state_value"])
    data = rollout(6)
    data["state_value"], data["next", "state_value"] = torch.randn(6, M), torch.randn(6, M)
    plain = VectorGAE()(data.clone())["advantage"]
    torch.testing.assert_close(VectorGAE(value_network=network, skip_existing=True)(data.clone())["advantage"], plain)
    with set_skip_existing(True):
        torch.testing.assert_close(VectorGAE(value_network=network)(data.clone())["advantage"], plain)
    assert network.module.rows == []
    del data["next", "state_value"]
    VectorGAE(value_network=network, skip_existing=True)(data)
    assert network.module.rows == [6]
    VectorGAE(value_network=network)(data)
    assert network.module.rows == [6, 6, 6]


@pytest.mark.parametrize("differentiable", [False, True])
def test_differentiable_as_in_torchrl(differentiable: bool) -> None:
    network = TensorDictModule(Values(1), ["observation"], ["state_value"])
    options: dict[str, Any] = {"gamma": 0.9, "lmbda": 0.8, "value_network": network, "differentiable": differentiable}
    gradients = []
    for estimator in (VectorGAE(**options), GAE(**options)):
        data = rollout(8, m=1)
        leaves = [data["observation"].requires_grad_(), data["next", "reward"].requires_grad_()]
        data = data.clone()
        advantage = estimator(data)["advantage"]
        assert advantage.requires_grad is differentiable
        if differentiable:
            gradients.append(torch.autograd.grad(advantage.square().sum(), leaves))
        assert all(parameter.grad is None for parameter in network.parameters())
    for ours, theirs in zip(*gradients, strict=True) if gradients else ():
        torch.testing.assert_close(ours, theirs)


def test_the_encoding_of_actions_comes_from_the_environment() -> None:
    actor = CategoricalActor(4, M, 5)
    data = TensorDict({"observation": torch.zeros(2, 4), "preference": torch.rand(2, M)}, [2])
    assert CategoricalPolicy(actor, spec=OneHot(5))(data.clone())["action"].shape == (2, 5)
    assert CategoricalPolicy(actor, spec=Categorical(5))(data.clone())["action"].shape == (2,)
    refused("`one_hot` must be True for an environment that", CategoricalPolicy, actor, one_hot=False, spec=OneHot(5))
    refused("`one_hot` must be False for an environment", CategoricalPolicy, actor, one_hot=True, spec=Categorical(5))
    refused("`spec` must be one discrete action", CategoricalPolicy, actor, spec=Unbounded(2))


def test_the_utopia_point_is_saved() -> None:
    for scalarizer in (Tchebycheff, SmoothTchebycheff):
        made, loaded = scalarizer(utopia=1.5), scalarizer()
        loaded.load_state_dict(made.state_dict())
        assert loaded.utopia == pytest.approx(1.5)
