r"""Train a tiny language model on two rewards that conflict: which methods serve a preference for both alike?

A completion of up to L characters with n characters, a of them letters, earns

.. math:: brief = (1 - n/L)^2, \qquad letters = (a/L)^2, \qquad \sqrt{brief} + \sqrt{letters} \le 1.

The best completions lie on a concave trade-off. Its two ends, an empty completion and one full of letters, have the
largest sum; the completion that serves both alike has L/2 letters and earns 0.25 of each. A *policy* can also mix the
two ends: its means then reach up to 0.5 of each, while no single completion serves both.

Run ``python -m benchmarks.llm_rewards`` from a clone, after ``make llm``. The model is a small GPT-2 with
random weights and one token per byte; nothing is downloaded. ``--model NAME_OR_PATH`` trains another one instead.
"""

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from datasets import Dataset
from matplotlib.figure import Figure
from transformers import PreTrainedTokenizerBase
from trl import GRPOConfig, GRPOTrainer

from benchmarks._report import Report
from benchmarks._tiny_language_model import byte_tokenizer, load, tiny_model
from morl_blocks.llm import AttentionGRPO, ScalarizedReward
from morl_blocks.metrics import bootstrap_ci
from morl_blocks.scalarizers import SmoothTchebycheff

PROMPTS = [f"{letter}: " for letter in "abcd"]
ROWS = ("Linear (GRPO)", "Linear (GDPO)", "STCH of the means", "STCH of each answer")
SCORES = ("brief", "letters", "worse mean", "worse of an answer", "answers with both")
BOTH = 0.15
"""An answer serves both rewards from here on; 0.25 is the best that one answer can do for both alike."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Train a tiny language model on two conflicting rewards."""

    seeds: int = 5
    """Seeds per method: 0, 1, ..."""
    steps: int = 100
    """Updates per run."""
    batch: int = 64
    """Completions per update, in groups of 16."""
    length: int = 16
    """Longest completion, in tokens, and the L of the rewards."""
    learning_rate: float = 3e-3
    """Step size of AdamW; use about 1e-6 to 1e-5 for a pretrained model."""
    weight: float = 0.5
    """Preference for brief; the rest is for letters."""
    model: str | None = None
    """Train this model, a folder or a name on the hub, instead of the tiny one."""
    out: Path = Path("out/llm_rewards.json")
    """Where to write the figures; table and picture go beside them."""


def reward_functions(length: int) -> list[Callable[..., list[float]]]:
    """Return the two rewards of completions, as TRL takes them."""

    def brief(completions: list[str], **kwargs: Any) -> list[float]:
        return [(1 - min(len(text), length) / length) ** 2 for text in completions]

    def letters(completions: list[str], **kwargs: Any) -> list[float]:
        allowed = [sum("a" <= character <= "z" for character in text[:length]) for text in completions]
        return [(count / length) ** 2 for count in allowed]

    return [brief, letters]


def make_trainer(row: str, args: Args, seed: int, folder: str) -> Any:
    """Return the trainer of one row of the table."""
    if args.model is None:
        tokenizer: Any = byte_tokenizer()
        model = tiny_model(tokenizer, seed)
    else:
        model, tokenizer = load(args.model)
    weights = [args.weight, 1 - args.weight]
    rewards: list[Any] = [*reward_functions(args.length)]
    kind, options = GRPOTrainer, {}
    if row == "STCH of the means":
        kind, options = AttentionGRPO, {"scalarizer": SmoothTchebycheff(0.02, attention="gradient"), "decay": 0.5}
    elif row == "STCH of each answer":
        rewards, weights = [ScalarizedReward(rewards, SmoothTchebycheff(0.01), torch.tensor(weights))], [1.0]
    config = GRPOConfig(
        folder,
        seed=seed,
        max_steps=args.steps,
        per_device_train_batch_size=args.batch,
        num_generations=16,
        max_completion_length=args.length,
        learning_rate=args.learning_rate,
        lr_scheduler_type="constant",
        reward_weights=weights,
        multi_objective_aggregation="sum_then_normalize" if row == "Linear (GRPO)" else "normalize_then_sum",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        dataloader_pin_memory=False,
        logging_steps=max(1, args.steps // 10),
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        log_level="warning",
    )
    prompts = Dataset.from_dict({"prompt": PROMPTS * args.batch})
    return kind(model, rewards, args=config, train_dataset=prompts, processing_class=tokenizer, **options)


@torch.no_grad()
def answers(model: Any, tokenizer: PreTrainedTokenizerBase, length: int, seed: int, count: int = 512) -> list[str]:
    """Sample fresh completions of a trained model."""
    torch.manual_seed(10_000 + seed)
    inputs = tokenizer(PROMPTS * (count // len(PROMPTS)), return_tensors="pt", padding=True)
    model.eval()
    tokens = model.generate(**inputs, max_new_tokens=length, do_sample=True, top_k=0)
    texts: list[str] = tokenizer.batch_decode(tokens[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return texts


def scored(rewards: np.ndarray) -> dict[str, float]:
    """Return the scores of one run from the rewards of its completions, ``[N, 2]``."""
    means, worse = rewards.mean(0), rewards.min(1)
    values = (means[0], means[1], means.min(), worse.mean(), (worse >= BOTH).mean())
    return dict(zip(SCORES, map(float, values), strict=True))


def run(row: str, args: Args, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Train one model; return the rewards of its completions, ``[N, 2]``, and what to write down."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(row, args, seed, folder)
        trainer.train()
    texts = answers(trainer.model, trainer.processing_class, args.length, seed)
    rewards = np.array([function(texts) for function in reward_functions(args.length)]).T
    figures = {"row": row, "seed": seed, **scored(rewards), "answers": texts[:4]}
    return rewards, {**figures, "seconds": round(time.perf_counter() - began, 1)}


def cell(values: list[float]) -> str:
    """Format a mean over seeds with its 95 % interval."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    interval = bootstrap_ci([values])
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def table(runs: list[dict[str, Any]]) -> list[str]:
    """Format one line per method, with intervals over seeds, and one per run."""
    lines = ["".join([f"{'method':<21}", *(f"{score:>24}" for score in SCORES)])]
    for row in ROWS:
        mine = [figures for figures in runs if figures["row"] == row]
        lines.append("".join([f"{row:<21}", *(f"{cell([one[score] for one in mine]):>24}" for score in SCORES)]))
    lines += ["", f"{'run':<24}{'brief':>8}{'letters':>9}{'seconds':>9}  answers"]
    for one in runs:
        texts = ", ".join(map(repr, one["answers"]))
        name = f"{one['row']} {one['seed']}"
        lines.append(f"{name:<24}{one['brief']:>8.3f}{one['letters']:>9.3f}{one['seconds']:>9.1f}  {texts}")
    return lines


def draw(clouds: dict[str, list[np.ndarray]], runs: list[dict[str, Any]]) -> Figure:
    """Draw one panel per method: the rewards of single answers (grey), and each seed's means (coloured)."""
    figure = Figure(figsize=(13, 3.9), layout="constrained")
    noise, root = np.random.default_rng(0), np.linspace(0, 1, 200)
    for axis, (row, seeds) in zip(figure.subplots(1, len(ROWS), sharex=True, sharey=True), clouds.items(), strict=True):
        points = np.concatenate(seeds)
        jittered = points + noise.normal(0, 0.008, points.shape)
        axis.plot(root**2, (1 - root) ** 2, color="0.6", label="best single answers")
        axis.plot([0, 1], [1, 0], color="0.6", linestyle=":", label="means of mixed ends")
        axis.scatter(*jittered.T, s=5, alpha=0.15, color="0.35", linewidths=0, label="answers")
        axis.scatter(*np.array([one.mean(0) for one in seeds]).T, s=45, color="C3", zorder=3, label="mean of a seed")
        both = np.mean([one["answers with both"] for one in runs if one["row"] == row])
        axis.set_title(f"{row}\n{both:.0%} of the answers serve both", fontsize=10)
        axis.set_aspect("equal")
    axis.legend(fontsize=7, loc="upper right")
    figure.supxlabel("brief (larger is better)", fontsize=10)
    figure.supylabel("letters (larger is better)", fontsize=10)
    return figure


def main(args: Args) -> list[dict[str, Any]]:
    """Train every method with every seed, print the table, write table, figures and picture."""
    torch.set_num_threads(1)
    report, began, busy = Report(args.out), time.perf_counter(), time.process_time()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    runs, clouds = list[dict[str, Any]](), {row: list[np.ndarray]() for row in ROWS}
    for seed in range(args.seeds):
        for row in ROWS:
            rewards, figures = run(row, args, seed)
            print(f"{row}, seed {seed}: {figures['seconds']} s", flush=True)
            clouds[row].append(rewards)
            runs.append(figures)
    report.say(
        f"Two rewards with a concave trade-off, preference ({args.weight:g}, {1 - args.weight:g}): {args.seeds} seeds,",
        f"{args.steps} steps of {args.batch} completions. 512 fresh answers per run, 95 % intervals over seeds.",
        "Best: 0.25 in 'worse of an answer' by one kind of answer, 0.5 in 'worse mean' by mixing both ends.",
        "",
        *table(sorted(runs, key=lambda one: (ROWS.index(one["row"]), one["seed"]))),
        "",
        f"{time.perf_counter() - began:.0f} seconds in all, {time.process_time() - busy:.0f} of one core.",
    )
    settings = {name: value for name, value in dataclasses.asdict(args).items() if name != "out"}
    report.write({"args": settings, "runs": runs})
    draw(clouds, runs).savefig(args.out.with_suffix(".png"), dpi=110)
    return runs


if __name__ == "__main__":
    main(tyro.cli(Args))
