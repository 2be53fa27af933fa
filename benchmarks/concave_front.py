r"""Trace a concave Pareto front by gradient descent with every scalarizer: which of them reach its middle?

The problem is Fonseca and Fleming's: minimise :math:`f_{1,2}(x) = 1 - e^{-\sum_k (x_k \mp 1/\sqrt n)^2}`. Its front is
concave, so a weighted sum can only find the two ends. No reinforcement learning is involved: the blocks are used as
in any PyTorch code, with all preferences as one batch.

Run ``python -m benchmarks.concave_front``; it prints a table and writes it and a picture to a folder.
"""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import torch
import tyro
from matplotlib.figure import Figure
from torch import Tensor
from tqdm import tqdm

from morl_blocks.combiners import WeightedPCGrad, conflict_ratio
from morl_blocks.metrics import hypervolume
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, Scalarizer, SmoothTchebycheff, Tchebycheff
from morl_blocks.schedulers import ConflictBraked, LinearDecay

Tracer = Callable[[Tensor, Tensor, int], Tensor]


@dataclasses.dataclass(frozen=True)
class Args:
    """Trace a concave front with Linear, TCH, STCH and ASTCH + PCGrad."""

    steps: int = 1500
    """Gradient steps per method."""
    preferences: int = 20
    """How many preferences, evenly spread from one objective to the other."""
    dimension: int = 3
    """Number of variables n."""
    out: Path = Path("out")
    """Folder for the table and the picture."""


def fonseca_fleming(x: Tensor) -> Tensor:
    """Return the two losses, ``[*B, n] -> [*B, 2]``, both to be minimised, both in [0, 1)."""
    shift = 1 / math.sqrt(x.shape[-1])
    return torch.stack([1 - (-(x - s).square().sum(-1)).exp() for s in (shift, -shift)], -1)


def true_front(count: int = 2000) -> Tensor:
    """Return points of the exact front, ``[count, 2]``: all coordinates equal, between the two optima."""
    t = torch.linspace(-1, 1, count)
    return torch.stack([1 - (-(t - 1).square()).exp(), 1 - (-(t + 1).square()).exp()], -1)


def descend(x: Tensor, steps: int, gradient: Callable[[Tensor, int], Tensor], name: str) -> Tensor:
    """Run Adam with a falling step size on all preferences at once; ``gradient`` maps x and the step to ``[B, n]``."""
    x = x.clone().requires_grad_()
    optimiser = torch.optim.Adam([x], lr=0.02)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, steps)
    for step in tqdm(range(steps), desc=f"{name:<24}", leave=False, disable=None):
        x.grad = gradient(x, step)
        optimiser.step()
        decay.step()
    return fonseca_fleming(x.detach())


def by_scalarizer(name: str, scalarizer: Scalarizer) -> Tracer:
    """Descend the utility itself."""

    def trace(start: Tensor, weights: Tensor, steps: int) -> Tensor:
        def gradient(x: Tensor, step: int) -> Tensor:
            if isinstance(scalarizer, AdaptiveSmoothTchebycheff):
                scalarizer.step(step / steps)
            (grad,) = torch.autograd.grad(scalarizer(fonseca_fleming(x), weights).sum(), x)
            return grad

        return descend(start, steps, gradient, name)

    return trace


def by_combiner(name: str) -> Tracer:
    """Combine the gradients with weighted PCGrad under the exact ASTCH attention; conflict brakes the smoothness."""
    scalarizer = AdaptiveSmoothTchebycheff(
        ConflictBraked(LinearDecay(1.0, 0.05), 1.0), sense="min", attention="gradient"
    )
    combiner, jacobian = WeightedPCGrad(), torch.vmap(torch.func.jacrev(fonseca_fleming))

    def trace(start: Tensor, weights: Tensor, steps: int) -> Tensor:
        conflict = torch.zeros(len(start))

        def gradient(x: Tensor, step: int) -> Tensor:
            nonlocal conflict
            scalarizer.step(step / steps, conflict)
            jac_bmn = jacobian(x.detach())
            conflict = conflict_ratio(jac_bmn @ jac_bmn.mT)
            update: Tensor = combiner(jac_bmn, scalarizer.attention(fonseca_fleming(x.detach()), weights))
            return update

        return descend(start, steps, gradient, name)

    return trace


def methods() -> dict[str, Tracer]:
    """Return the rows of the table."""
    scalarizers: dict[str, Scalarizer] = {
        "Linear": Linear(sense="min"),
        "TCH": Tchebycheff(sense="min"),
        "STCH (0.01)": SmoothTchebycheff(0.01, sense="min"),
        "STCH (0.1)": SmoothTchebycheff(0.1, sense="min"),
        "STCH (1.0)": SmoothTchebycheff(1.0, sense="min"),
        "ASTCH (1.0 to 0.05)": AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.05), sense="min"),
    }
    rows = {name: by_scalarizer(name, scalarizer) for name, scalarizer in scalarizers.items()}
    return {**rows, "ASTCH + weighted PCGrad": by_combiner("ASTCH + weighted PCGrad")}


def interior_points(front: Tensor, margin: float = 0.05, width: float = 0.02) -> int:
    """Count distinct points (cells of ``width``) away from the two ends of the front by at least ``margin``."""
    inside = front[(front > margin).all(-1)]
    return len((inside / width).round().unique(dim=0))


def preference_followed(front: Tensor, weights: Tensor) -> float:
    """Return the rank correlation of preference and outcome: 1 when more weight on a loss always means less of it."""
    ranks = [values.argsort().argsort().double() for values in (weights[:, 0], -front[:, 0])]
    return float(torch.corrcoef(torch.stack(ranks))[0, 1])


def table(fronts: dict[str, Tensor], weights: Tensor) -> str:
    """Format hypervolume (reference (1, 1)), interior points and preference correlation of each method."""
    best = float(hypervolume(1 - true_front(), torch.zeros(2)))
    lines = [f"{'method':<26}{'hypervolume':>12}{'of the best':>13}{'interior points':>17}{'preference followed':>21}"]
    for name, front in fronts.items():
        volume = float(hypervolume(1 - front, torch.zeros(2)))
        lines.append(
            f"{name:<26}{volume:>12.4f}{volume / best:>13.1%}{interior_points(front):>17d}"
            f"{preference_followed(front, weights):>21.2f}"
        )
    return "\n".join([*lines, f"{'(exact front)':<26}{best:>12.4f}{1:>13.1%}"])


def draw(fronts: dict[str, Tensor], weights: Tensor) -> Figure:
    """Draw one panel per method: the exact front and the points found, coloured by the preference."""
    figure = Figure(figsize=(12, 6.2), layout="constrained")
    axes = figure.subplots(2, math.ceil(len(fronts) / 2), sharex=True, sharey=True)
    exact = true_front()
    for axis, (name, front) in zip(axes.flat, fronts.items(), strict=False):
        axis.plot(exact[:, 0], exact[:, 1], color="0.75", linewidth=3, zorder=1)
        dots = axis.scatter(front[:, 0], front[:, 1], c=weights[:, 0], cmap="viridis", vmin=0, vmax=1, s=36, zorder=2)
        axis.set_title(f"{name}\n{interior_points(front)} interior points", fontsize=10)
        axis.set_aspect("equal")
    for axis in axes.flat[len(fronts) :]:
        axis.set_axis_off()
    figure.supxlabel("loss $f_1$ (smaller is better)")
    figure.supylabel("loss $f_2$ (smaller is better)")
    figure.colorbar(dots, ax=axes, label="preference $w_1$", shrink=0.8)
    return figure


def main(args: Args) -> dict[str, Tensor]:
    """Trace the front with every method, print the table, write table and picture, return the points found."""
    torch.set_num_threads(1)
    first = torch.linspace(0.02, 0.98, args.preferences)
    weights = torch.stack([first, 1 - first], -1)
    start = torch.empty(args.preferences, args.dimension).uniform_(-1, 1, generator=torch.Generator().manual_seed(0))
    fronts = {name: trace(start, weights, args.steps) for name, trace in methods().items()}
    report = table(fronts, weights)
    print(report)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "concave_front.txt").write_text(report + "\n")
    draw(fronts, weights).savefig(args.out / "concave_front.png", dpi=110)
    print(f"\nPicture: {args.out / 'concave_front.png'}")
    return fronts


if __name__ == "__main__":
    main(tyro.cli(Args))
