"""What do combined gradients of m losses cost in a network of a million parameters, in time and in memory?

A forward pass and the gradients in ``.grad``, minibatch 64, one thread, processor time, all rivals in alternation:

- ``sum``: one backward pass of the sum of the losses, the least that any method can cost;
- ``m passes``: one backward pass per loss and nothing else, what remains when combining is free;
- ``ours`` and ``ours, low memory``: ``combine_gradients`` with PCGrad;
- ``TorchJD``: ``autojac.backward`` and ``jac_to_grad`` with PCGrad;
- ``TorchJD autogram``: its ``Engine``, which forms the Gramian layer by layer, and a backward pass of the weighted sum.

Times are medians over the rounds, and ratios medians of each round's ratio: a busy machine disturbs them least.

Memory is the highest sum of what PyTorch's allocator gave out during one call, as its profiler counts it, in gradients
of the parameters' size. It includes the activations that a backward pass keeps.

Run ``python -m benchmarks.gradient_cost`` (extra ``torchjd``); it prints a table and writes it as JSON.
"""

import copy
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
import tyro
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torchjd.aggregation import PCGrad as PeerPCGrad
from torchjd.aggregation import PCGradWeighting
from torchjd.autogram import Engine
from torchjd.autojac import backward, jac_to_grad

from benchmarks._report import Report
from benchmarks._timing import turns
from morl_blocks import combine_gradients
from morl_blocks.combiners import PCGrad

MINIBATCH = 64
Rivals = dict[str, Callable[[], object]]


@dataclasses.dataclass(frozen=True)
class Args:
    """Time and weigh the gradients of several losses against TorchJD."""

    out: Path = Path("benchmarks/results/gradient_cost.json")
    """Where to write the figures."""
    rounds: int = 20
    """Turns per rival; medians over them count."""
    width: int = 700
    """Units of each hidden layer; 700 make 1.05 million parameters."""
    objectives: tuple[int, ...] = (2, 3, 8)
    """Numbers of losses."""


def make_net(width: int, m: int) -> nn.Sequential:
    """Return a network with two square layers and m outputs."""
    torch.manual_seed(0)
    layers = [nn.Linear(100, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, m))


def make_rivals(net: nn.Sequential, m: int) -> Rivals:
    """Return one call per method: forward pass and gradients, from cleared ``.grad``."""
    params, hooked = list(net.parameters()), copy.deepcopy(net)  # an engine's hooks stay in the network
    x, targets = torch.randn(MINIBATCH, 100), torch.randn(MINIBATCH, m)
    combiner, aggregator, weighting, engine = PCGrad(), PeerPCGrad(), PCGradWeighting(), Engine(hooked, batch_dim=None)

    def losses(model: nn.Module = net) -> Tensor:
        model.zero_grad()
        outputs: Tensor = model(x)
        return (outputs - targets).square().mean(0)

    def passes() -> None:
        for loss in losses():
            torch.autograd.grad(loss, params, retain_graph=True)

    def autojac() -> None:
        backward(losses())
        jac_to_grad(params, aggregator)

    def autogram() -> None:
        vector = losses(hooked)
        vector.backward(weighting(engine.compute_gramian(vector)))

    return {
        "sum": lambda: losses().sum().backward(),
        "m passes": passes,
        "ours": lambda: combine_gradients(losses(), params, combiner),
        "ours, low memory": lambda: combine_gradients(losses(), params, combiner, low_memory=True),
        "TorchJD": autojac,
        "TorchJD autogram": autogram,
    }


def peak(call: Callable[[], object], smallest: int = 1) -> int:
    """Return how many bytes PyTorch held at most during a call, in blocks of ``smallest`` bytes and more."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    events = profiler.profiler.kineto_results.events()
    sizes = [(event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"]
    held, highest = 0, 0
    for _, size in sorted(sizes, key=lambda pair: pair[0]):
        held += size if abs(size) >= smallest else 0
        highest = max(highest, held)
    return highest


def main(args: Args) -> dict[str, dict[str, float]]:
    """Time and weigh everything, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    results, report = {}, Report(args.out)
    report.say(f"{'m':<4}{'method':<20}{'time [ms]':>11}{'of TorchJD':>12}{'memory [gradients]':>20}")
    for m in args.objectives:
        net = make_net(args.width, m)
        rivals = make_rivals(net, m)
        times = turns(rivals, rounds=args.rounds, calls=2, clock=time.process_time)
        for name, call in rivals.items():
            net.zero_grad()
            memory = peak(call) / (4 * sum(p.numel() for p in net.parameters()))
            share = median(own / peer for own, peer in zip(times[name], times["TorchJD"], strict=True))
            row = {"ms": 1e3 * median(times[name]), "of_torchjd": share, "memory": memory}
            results[f"m = {m}, {name}"] = row
            report.say(f"{m:<4}{name:<20}{row['ms']:>11.1f}{share:>12.2f}{memory:>20.1f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
