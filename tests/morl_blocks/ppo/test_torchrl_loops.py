"""The loss, the estimator and the transforms in TorchRL's machinery: collectors, vmap, compile, devices."""

from typing import Any

import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl import collectors
from torchrl.envs import Compose, DoubleToFloat, InitTracker, MOGymEnv, TransformedEnv
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, LossModule
from torchrl.objectives.value import GAE

from morl_blocks.ppo import VectorClipPPOLoss, VectorGAE
from morl_blocks.scalarizers import Linear
from morl_blocks.transforms import Preference, ScalarizeReward
from tests.morl_blocks.ppo.parts import M, critic_module, gaussian_policy, minibatch, rollout
from tests.refusals import refused

Collector = getattr(collectors, "Collector", None) or collectors.SyncDataCollector  # its name before TorchRL 0.11


def losses_of(loss: LossModule, data: TensorDict) -> list[torch.Tensor]:
    out = loss(data.clone())
    return [out[key] for key in ("loss_objective", "loss_value", "loss_entropy")]


@pytest.mark.parametrize("trailing", [(), (1,)])
@pytest.mark.parametrize("options", [{}, {"reduction": "sum"}, {"clip_value": 0.1}, {"normalize_advantage": True}])
def test_padding_does_not_count(trailing: tuple[int, ...], options: dict[str, Any]) -> None:
    actor, critic = gaussian_policy(), critic_module()
    data = minibatch(actor, 3, 8)
    valid = torch.rand(3, 8) < 0.6
    for loss_options in ({**options}, {**options, "loss_critic_type": "l1"}):
        loss = VectorClipPPOLoss(actor, critic, **loss_options)
        expected = losses_of(loss, data[valid])
        padded = data.clone()
        for key in ("advantage", "value_target", "state_value", "action_log_prob"):
            padded[key][~valid] = torch.nan
        padded["collector", "mask"] = valid.reshape(3, 8, *trailing)
        torch.testing.assert_close(losses_of(loss, padded), expected)


def test_a_mask_must_fit_the_batch_and_keep_a_step() -> None:
    actor, critic = gaussian_policy(), critic_module()
    data = minibatch(actor, 5)
    loss = VectorClipPPOLoss(actor, critic)
    data["collector", "mask"] = torch.zeros(5, dtype=torch.bool)
    refused("`mask` must keep at least one step", loss, data)
    data["collector", "mask"] = torch.ones(5, 2, dtype=torch.bool)
    refused(r"`mask` must have shape \[5\], got shape \[5, 2\]", loss, data)


def test_a_collected_rollout_trains_each_objective_as_torchrl_does() -> None:
    torch.manual_seed(0)
    env = TransformedEnv(MOGymEnv("mo-mountaincarcontinuous-v0"), Compose(DoubleToFloat(), InitTracker()))
    body = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(body, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        return_log_prob=True,
    )
    critic = ValueOperator(nn.Linear(2, 2), in_keys=["observation"])
    collector = Collector(env, actor, frames_per_batch=32, total_frames=32)
    (data,) = list(collector)
    collector.shutdown()
    ours = VectorGAE(gamma=0.9, lmbda=0.8, value_network=critic)(data.clone())
    objectives = VectorClipPPOLoss(actor, critic)(ours.reshape(-1))["loss_objective"]
    for i in range(2):
        alone = data.clone()
        alone["state_value"] = ours["state_value"][..., i : i + 1]
        alone["next", "state_value"] = ours["next", "state_value"][..., i : i + 1]
        alone["next", "reward"] = data["next", "reward"][..., i : i + 1]
        GAE(gamma=0.9, lmbda=0.8, value_network=None)(alone)
        torch.testing.assert_close(ours["advantage"][..., i : i + 1], alone["advantage"])
        theirs = ClipPPOLoss(actor, None, clip_epsilon=0.2)(alone.reshape(-1))
        torch.testing.assert_close(objectives[i], theirs["loss_objective"])


def test_vmap_over_runs_is_one_run_after_the_other() -> None:
    actor, critic = gaussian_policy(), critic_module()
    loss = VectorClipPPOLoss(actor, critic, clip_value=0.1)
    one = TensorDict.from_module(loss)
    runs = torch.stack([one.apply(lambda p, r=r: p + 0.1 * r) for r in range(3)])
    data = torch.stack([minibatch(actor, 8) for _ in range(3)])

    def objectives(params: TensorDict, batch: TensorDict) -> torch.Tensor:
        with params.to_module(loss):
            result: torch.Tensor = loss(batch)["loss_objective"]
        return result

    lifted = torch.vmap(objectives)(runs, data)
    torch.testing.assert_close(lifted, torch.stack([objectives(runs[r], data[r]) for r in range(3)]))


@pytest.mark.filterwarnings("ignore:.*inline_inbuilt_nn_modules:FutureWarning")  # tensordict asks PyTorch for it
def test_compiled_loss_and_estimator_compute_the_same() -> None:
    actor, critic = gaussian_policy(), critic_module()
    data, loss = minibatch(actor, 8), VectorClipPPOLoss(actor, critic)
    compiled = torch.compile(loss, backend="aot_eager")
    torch.testing.assert_close(losses_of(compiled, data), losses_of(loss, data))
    gae, steps = VectorGAE(value_network=critic), rollout(3, 6)
    expected = gae(steps.clone())["advantage"]
    torch.testing.assert_close(torch.compile(gae, backend="aot_eager")(steps.clone())["advantage"], expected)


def test_dtype_and_device_moves_reach_the_coefficients() -> None:
    actor, critic = gaussian_policy(), critic_module()
    data, loss = minibatch(actor, 8).double(), VectorClipPPOLoss(actor, critic).double()
    assert {tensor.dtype for tensor in loss.state_dict().values()} == {torch.float64}
    assert {value.dtype for value in losses_of(loss, data)} == {torch.float64}
    gae = VectorGAE(value_network=critic).double()
    steps = rollout(3, 6).apply(lambda values: values.double() if values.is_floating_point() else values)
    assert gae(steps)["advantage"].dtype == torch.float64
    for module in (loss, gae, Preference(torch.ones(M) / M), ScalarizeReward(Linear(), torch.ones(M) / M)):
        assert {tensor.device.type for tensor in module.to("meta").state_dict().values()} == {"meta"}


def test_a_state_restores_networks_and_coefficients() -> None:
    actor, critic = gaussian_policy(), critic_module()
    loss = VectorClipPPOLoss(actor, critic, clip_epsilon=0.3, clip_value=0.1)
    loss.entropy_coeff = 0.5  # type: ignore[assignment]  # scheduled
    data = minibatch(actor, 8)
    other = VectorClipPPOLoss(gaussian_policy(), critic_module(), clip_value=1.0)
    assert not torch.equal(losses_of(other, data)[0], losses_of(loss, data)[0])
    other.load_state_dict(loss.state_dict())
    torch.testing.assert_close(losses_of(other, data), losses_of(loss, data), rtol=0, atol=0)
    gae = VectorGAE(gamma=0.5)
    gae.load_state_dict(VectorGAE(gamma=0.9, lmbda=0.1).state_dict())
    assert (float(gae.gamma), float(gae.lmbda)) == pytest.approx((0.9, 0.1))
