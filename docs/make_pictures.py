"""Draw the pictures of the docs: ``python docs/make_pictures.py``.

The report of the gallery needs results, of one sweep or of one per row (an hour of two cores)::

    morl-blocks sweep --rows PASTA Linear Tchebycheff 'No PCGrad' --envs stealth --total-steps 200704 --num-seeds 5 \\
        --out runs/gallery
    python docs/make_pictures.py runs/gallery

It also needs chromium, the table in LaTeX pdflatex and pdftoppm. The film of the half-cheetah shows two policies that
are kept in ``docs/pictures``. New ones, a minute each::

    for row in PASTA Linear; do
        morl-blocks train $row --env mo-halfcheetah-v5 --total-steps 122880 --eval-episodes 1 --out runs/cheetah/$row
    done
    python docs/make_pictures.py --cheetah runs/cheetah
"""

import sys
import tempfile
from pathlib import Path

import gallery_pictures
import torch
from matplotlib.figure import Figure

from morl_blocks.combiners import pcgrad_projections
from morl_blocks.scalarizers import SmoothTchebycheff, Tchebycheff, maintain
from morl_blocks.schedulers import ConflictBraked, LinearDecay

FOLDER = Path(__file__).parent / "pictures"
COLOURS = {0.05: "#0072b2", 0.2: "#009e73", 1.0: "#e69f00", 10.0: "#cc79a7"}  # colour-blind safe


def smoothness() -> Figure:
    """Show what mu does to the utility and to the attention (the paper's figure on STCH)."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    first = torch.linspace(0, 1, 400)
    values, weights = torch.stack([first, 1 - first], -1), torch.tensor([0.5, 0.5])
    left.plot(first, Tchebycheff()(values, weights), color="black", linestyle="--", label="TCH")
    for mu, colour in COLOURS.items():
        block = SmoothTchebycheff(mu)
        offset = mu * torch.tensor(2.0).log()
        left.plot(first, block(values, weights) + offset, color=colour, label=rf"STCH, $\mu = {mu}$")
        right.plot(first, block.attention(values, weights)[:, 0], color=colour, label=rf"$\mu = {mu}$")
    left.set(
        title=r"Utility $U_\mu + \mu \log m$", xlabel=r"$\bar r_1$, with $\bar r_2 = 1 - \bar r_1$", ylabel="utility"
    )
    right.set(title=r"Attention $\delta_1$", xlabel=r"$\bar r_1$, with $\bar r_2 = 1 - \bar r_1$", ylabel="share")
    sharp = SmoothTchebycheff(0.05).attention(values, weights)
    right.plot(
        first, maintain(sharp, 0.15)[:, 0], color=COLOURS[0.05], linestyle=":", label=r"$\mu = 0.05$, $\rho = 0.15$"
    )
    for axis in (left, right):
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
    return figure


def controller() -> Figure:
    """Show how conflict holds the smoothness up (the paper's controller figure)."""
    steps = 300
    progress = torch.linspace(0, 1, steps)
    conflict = torch.full((steps,), 0.3)
    conflict[60:75], conflict[140:220] = 0.9, 0.75
    controllers = {
        "decay alone": LinearDecay(),
        "decay, smoothed (No Conflict)": LinearDecay(smoothing=0.05),
        "conflict-braked (PASTA)": ConflictBraked(),
    }
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 2])
    top.plot(progress, conflict, color="#d55e00")
    top.axhline(0.4, color="0.5", linestyle="--", linewidth=1)
    top.annotate(r"threshold $\tau$", (0.0, 0.42), color="0.35", fontsize=8)
    top.set(ylabel=r"conflict $\kappa$", ylim=(0, 1))
    for (name, schedule), style in zip(controllers.items(), ["0.6", "#0072b2", "#009e73"], strict=True):
        history = [float(schedule.step(p, k)) for p, k in zip(progress, conflict, strict=True)]
        bottom.plot(progress, history, color=style, label=name)
    bottom.set(xlabel="training progress", ylabel=r"smoothness $\mu$")
    bottom.legend(fontsize=8)
    return figure


def projection() -> Figure:
    """Show two conflicting gradients, their projections, and the two updates."""
    jacobian = torch.tensor([[1.6, 0.4], [-1.0, 1.0]])
    projected = pcgrad_projections(jacobian @ jacobian.T, torch.tensor([[0, 1], [1, 0]])) @ jacobian
    arrows = [
        (jacobian[0], "$g_1$", "#0072b2", "-"),
        (jacobian[1], "$g_2$", "#d55e00", "-"),
        (projected[0], r"$g_1^{proj}$", "#0072b2", ":"),
        (projected[1], r"$g_2^{proj}$", "#d55e00", ":"),
        (jacobian.sum(0), "sum", "0.6", "-"),
        (projected.sum(0), "PCGrad", "black", "-"),
    ]
    figure = Figure(figsize=(5.6, 4), layout="constrained")
    axis = figure.subplots()
    for vector, name, colour, style in arrows:
        x, y = vector.tolist()
        arrow = {"arrowstyle": "-|>", "color": colour, "linestyle": style, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", (x, y), (0, 0), arrowprops=arrow)
        axis.annotate(name, (x, y), (4, 4), textcoords="offset points", color=colour)
    axis.set(xlim=(-1.3, 2.1), ylim=(-0.3, 2.3), aspect="equal")
    axis.grid(alpha=0.3)
    return figure


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for draw in (smoothness, controller, projection):
        draw().savefig(FOLDER / f"{draw.__name__}.png", dpi=110)
    folders = list(map(Path, sys.argv[1:]))
    if sys.argv[1:2] == ["--cheetah"]:
        for row in ("PASTA", "Linear"):
            gallery_pictures.keep_cheetah(folders[1] / row, row.lower())
        folders = []
    gallery_pictures.worlds()
    gallery_pictures.cheetah()
    gallery_pictures.table()
    gallery_pictures.latex()
    if folders:
        with tempfile.TemporaryDirectory() as folder:
            gallery_pictures.report(gallery_pictures.joined(folders, Path(folder) / "gallery"))


if __name__ == "__main__":
    main()
