"""How fast are the combiners against what users would otherwise run, in the same process, on one thread?

1. PCGrad weights for 40 runs: one batched call against TorchJD's ``PCGradWeighting`` called 40 times.
2. The actor's update with minibatch 64: ``combine_gradients`` (one batched backward pass, Gramian) against one backward
   pass per objective and PCGrad on lists of gradients, for m = 2, 3, 5, 8.

Run ``python -m benchmarks.combiner_speed`` (extra ``torchjd``); it prints a table and writes it as JSON.
"""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import torch
import tyro
from torch import Tensor, nn
from torchjd.aggregation import PCGradWeighting

from benchmarks._report import Report
from benchmarks._timing import interleaved
from morl_blocks.combiners import PCGrad
from morl_blocks.ppo import UnitBoxGaussianActor, clipped_objectives, combine_gradients, gaussian_log_prob

OBSERVATIONS, ACTIONS, MINIBATCH = 30, 2, 64


@dataclasses.dataclass(frozen=True)
class Args:
    """Time the combiners against TorchJD and against one backward pass per objective."""

    out: Path = Path("benchmarks/results/combiner_speed.json")
    """Where to write the figures."""
    rounds: int = 40
    """Turns per rival; the best one counts."""


def list_pcgrad(losses: Tensor, params: list[nn.Parameter]) -> None:
    """Do what a straightforward implementation does: m backward passes, projections on flat gradients, ``.grad``."""
    grads = [torch.autograd.grad(loss, params, retain_graph=True) for loss in losses]
    flat = [torch.cat([g.flatten() for g in grad]) for grad in grads]
    projected = []
    for i, gradient in enumerate(flat):
        current, others = gradient.clone(), [j for j in range(len(flat)) if j != i]
        random.shuffle(others)
        for j in others:
            inner = current @ flat[j]
            if inner < 0:
                current -= inner / flat[j].square().sum() * flat[j]
        projected.append(current)
    update, start = torch.stack(projected).sum(0), 0
    for param in params:
        param.grad = update[start : start + param.numel()].view_as(param)
        start += param.numel()


def weights_rivals(runs: int, m: int) -> dict[str, Callable[[], object]]:
    """Set up point 1."""
    jacobian = torch.randn(runs, m, 50, generator=torch.Generator().manual_seed(0))
    gramian, batched, single = jacobian @ jacobian.mT, PCGrad(), PCGradWeighting()
    return {"ours": lambda: batched.weights(gramian), "peer": lambda: [single(one) for one in gramian]}


def update_rivals(m: int) -> dict[str, Callable[[], object]]:
    """Set up point 2: both rivals start from the same losses, whose graph is kept."""
    torch.manual_seed(0)
    actor = UnitBoxGaussianActor(OBSERVATIONS, m, ACTIONS)
    params = list(actor.parameters())
    observation, action = torch.randn(MINIBATCH, OBSERVATIONS), torch.rand(MINIBATCH, ACTIONS)
    mean, log_std = actor(observation, torch.full((m,), 1 / m))
    log_prob = gaussian_log_prob(action, mean, log_std)
    old = log_prob.detach() + 0.1 * torch.randn(MINIBATCH)
    losses = clipped_objectives(log_prob, old, torch.randn(MINIBATCH, m), 0.2)
    combiner = PCGrad()

    def ours() -> None:
        for param in params:
            param.grad = None
        combine_gradients(losses, params, combiner)

    return {"ours": ours, "peer": lambda: list_pcgrad(losses, params)}


def main(args: Args) -> dict[str, dict[str, float]]:
    """Time everything, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    cases = {"PCGrad weights, 40 runs, m = 3, against TorchJD": weights_rivals(40, 3)}
    cases |= {f"actor update, m = {m}, against {m} backward passes": update_rivals(m) for m in (2, 3, 5, 8)}
    results, report = {}, Report(args.out)
    report.say(f"{'case':<52}{'ours [ms]':>11}{'peer [ms]':>11}{'ours / peer':>13}{'speed-up':>10}")
    for name, rivals in cases.items():
        times = interleaved(rivals, rounds=args.rounds, calls=5)
        ratio = times["ours"] / times["peer"]
        results[name] = {"ours_ms": 1e3 * times["ours"], "peer_ms": 1e3 * times["peer"], "ratio": ratio}
        report.say(
            f"{name:<52}{1e3 * times['ours']:>11.3f}{1e3 * times['peer']:>11.3f}{ratio:>13.3f}{1 / ratio:>9.1f}x"
        )
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
