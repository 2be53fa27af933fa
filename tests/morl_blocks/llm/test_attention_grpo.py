"""With TRL: its own trainer on a tiny model. ``pip install 'morl-blocks[llm]'``, then ``pytest -m llm``."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

trl = pytest.importorskip("trl")

from datasets import Dataset  # noqa: E402

from benchmarks._tiny_language_model import byte_tokenizer, tiny_model  # noqa: E402
from morl_blocks.llm import AttentionGRPO, ScalarizedReward, group_advantage, reward_conflict  # noqa: E402
from morl_blocks.normalizers import RunningRange  # noqa: E402
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, SmoothTchebycheff  # noqa: E402
from morl_blocks.schedulers import LinearDecay  # noqa: E402
from tests.refusals import refused  # noqa: E402

pytestmark = [
    # TRL 1.16 reads and sets options that transformers 5.23 has renamed.
    pytest.mark.filterwarnings("ignore:.*gradient_checkpointing.*is deprecated:FutureWarning"),
]

WEIGHTS = [0.2, 0.3, 0.5]
GROUPS = torch.arange(8) // 4


def rewards_of(seed: int, holes: bool = False) -> list[Any]:
    """Return three reward functions of random numbers, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)

    def make(name: str) -> Any:
        def function(completions: list[str], **kwargs: Any) -> list[float | None]:
            drawn: list[float | None] = torch.rand(len(completions), generator=generator).tolist()
            return [None, *drawn[1:]] if holes else drawn

        function.__name__ = name
        return function

    return [make(name) for name in ("first", "second", "third")]


def trainer_of(kind: Any, folder: Path, reward_funcs: Any, *, steps: int = 1, **options: Any) -> Any:
    """Return a trainer that keeps what TRL made of each batch."""

    class Recorded(kind):
        def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
            rewards = super()._calculate_rewards(*args, **kwargs)
            self.seen_rewards = [*getattr(self, "seen_rewards", []), rewards.clone()]
            return rewards

        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log(logs, *args, **kwargs)
            self.seen_advantages = torch.tensor(list(self._logs["advantages"]))

    several = isinstance(reward_funcs, list)
    config = {"save_strategy": "no", "reward_weights": WEIGHTS if several else None, **options.pop("config", {})}
    args = trl.GRPOConfig(
        str(folder),
        max_steps=steps,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=4,
        multi_objective_aggregation=options.pop("aggregation", "sum_then_normalize"),
        use_cpu=True,
        bf16=False,
        dataloader_pin_memory=False,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        **config,
    )
    tokenizer = byte_tokenizer()
    prompts = Dataset.from_dict({"prompt": ["a", "b", "c", "d"] * 4})
    model = tiny_model(tokenizer, 0, width=16)
    return Recorded(model, reward_funcs, args=args, train_dataset=prompts, processing_class=tokenizer, **options)


@pytest.mark.parametrize("holes", [False, True])
def test_attention_grpo_with_linear_is_trls_own_gdpo(tmp_path: Path, holes: bool) -> None:
    plain = trainer_of(trl.GRPOTrainer, tmp_path, rewards_of(1, holes), aggregation="normalize_then_sum")
    ours = trainer_of(AttentionGRPO, tmp_path, rewards_of(1, holes), scalarizer=Linear())
    for trainer in (plain, ours):
        trainer.train()
    assert ours.seen_rewards[0].isnan().any() == holes
    torch.testing.assert_close(ours.seen_advantages, plain.seen_advantages, rtol=0, atol=1e-6)


def test_attention_follows_the_running_means_and_mu_the_scheduler(tmp_path: Path) -> None:
    scalarizer = AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.1), maintenance=0.0)
    trainer = trainer_of(AttentionGRPO, tmp_path, rewards_of(2), steps=3, scalarizer=scalarizer, decay=0.5)
    trainer.train()
    means = [rewards.double().mean(0) for rewards in trainer.seen_rewards]
    levels = 0.25 * means[0] + 0.25 * means[1] + 0.5 * means[2]
    torch.testing.assert_close(trainer.levels, levels)
    weights = torch.tensor(WEIGHTS, dtype=torch.float64)
    attention = SmoothTchebycheff(0.4).attention(levels, weights)  # two of three steps done
    torch.testing.assert_close(trainer.attention(), attention)
    expected = group_advantage(trainer.seen_rewards[-1], GROUPS, scalarizer, weights, levels=levels)
    torch.testing.assert_close(trainer.seen_advantages, expected, rtol=0, atol=1e-6)

    logged = [line for line in trainer.state.log_history if "mu" in line]
    assert [line["mu"] for line in logged] == pytest.approx([1.0, 0.7, 0.4])
    assert logged[-1]["conflict"] == pytest.approx(float(reward_conflict(trainer.seen_rewards[-1], GROUPS)))
    for name, share, level in zip(("first", "second", "third"), attention, levels, strict=True):
        assert logged[-1][f"attention/{name}"] == pytest.approx(float(share))
        assert logged[-1][f"level/{name}"] == pytest.approx(float(level))


def test_evaluation_moves_nothing(tmp_path: Path) -> None:
    trainer = trainer_of(AttentionGRPO, tmp_path, rewards_of(3))
    trainer.train()
    levels, mu = trainer.levels.clone(), float(trainer.scalarizer.mu)
    trainer.evaluate(Dataset.from_dict({"prompt": ["a", "b"]}))
    assert torch.equal(trainer.levels, levels)
    assert float(trainer.scalarizer.mu) == mu


def test_checkpoints_hold_means_and_mu(tmp_path: Path) -> None:
    saving = {"save_strategy": "steps", "save_steps": 2}
    first = trainer_of(AttentionGRPO, tmp_path, rewards_of(4), steps=2, config=saving, normalizer=RunningRange())
    first.train()
    second = trainer_of(AttentionGRPO, tmp_path, rewards_of(5), steps=3, normalizer=RunningRange())
    second.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    expected = 0.9 * first.levels + 0.1 * second.seen_rewards[-1].double().mean(0)
    torch.testing.assert_close(second.levels, expected)
    assert len(second.seen_rewards) == 1
    assert int(second.normalizer.updates) == int(first.normalizer.updates) + 1 == 3


def test_scalarized_reward_in_trls_trainer(tmp_path: Path) -> None:
    scalarizer = AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.1))
    reward = ScalarizedReward(rewards_of(6, holes=True), scalarizer, torch.tensor(WEIGHTS))
    trainer = trainer_of(trl.GRPOTrainer, tmp_path, reward, steps=2)
    trainer.train()
    assert trainer.reward_func_names == ["scalarized"]
    assert math.isnan(float(trainer.seen_rewards[0][0, 0]))
    assert trainer.seen_advantages[0] == 0  # TRL gives a completion without a reward no advantage
    logged = [line for line in trainer.state.log_history if "scalarized/mu" in line]
    assert [line["scalarized/mu"] for line in logged] == pytest.approx([1.0, 0.55])
    assert sum(logged[0][f"scalarized/{name}/attention"] for name in ("first", "second", "third")) == pytest.approx(1)


def test_bad_options(tmp_path: Path) -> None:
    def made(functions: Any = None, **options: Any) -> Any:
        return trainer_of(AttentionGRPO, tmp_path, functions or rewards_of(0), **options)

    refused("`reward_funcs` must hold at least two rewards", made, rewards_of(0)[0])
    refused("`reward_weights` must be >= 0", made, config={"reward_weights": [-1.0, 1.0, 1.0]})
    refused("`decay` must lie in", made, decay=1.0)
    refused("`scalarizer` must be a Scalarizer", made, scalarizer="stch")
    refused("`scalarizer` must be one to maximise", made, scalarizer=Linear(sense="min"))
