"""Two tasks on scikit-learn's digits, class and parity, with a trunk of three units: one network per preference."""

from pathlib import Path

import torch
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional

from morl_blocks.normalizers import InitialValue
from morl_blocks.scalarizers import Linear, Scalarizer, SmoothTchebycheff

TRAINING, SEEDS = 1200, 3  # of 1,797 digits
PREFERENCES = torch.tensor([[0.1, 0.9], [0.3, 0.7], [0.5, 0.5], [0.7, 0.3], [0.9, 0.1]])


class TwoTasks(nn.Module):
    """A narrow trunk that both heads share: ten classes, and even or odd."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 3), nn.Tanh())
        self.digit, self.parity = nn.Linear(3, 10), nn.Linear(3, 1)

    def losses(self, images: Tensor, labels: Tensor) -> Tensor:
        """Return both cross entropies, ``[2]``."""
        features = self.trunk(images)
        parity = self.parity(features).squeeze(-1)
        odd = functional.binary_cross_entropy_with_logits(parity, (labels % 2).float())
        return torch.stack([functional.cross_entropy(self.digit(features), labels), odd])


def train(scalarizer: Scalarizer, weights: Tensor, images: Tensor, labels: Tensor, steps: int, seed: int) -> Tensor:
    """Train one network and return its losses on held-out digits, ``[2]``."""
    torch.manual_seed(seed)
    net, normalizer = TwoTasks(), InitialValue()
    normalizer.update(net.losses(images[:TRAINING], labels[:TRAINING]))
    optimiser = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(steps):
        losses = net.losses(images[:TRAINING], labels[:TRAINING])
        optimiser.zero_grad()
        scalarizer(normalizer(losses), weights).backward()
        optimiser.step()
    return net.losses(images[TRAINING:], labels[TRAINING:]).detach()


def main(steps: int = 400, out: Path = Path("digits_tasks.png")) -> dict[str, Tensor]:
    """Train one network per preference and scalarizer, draw their losses and return them, ``[5, 2]`` each."""
    digits = load_digits()
    images, labels = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    scalarizers = {"Linear": Linear(sense="min"), "STCH": SmoothTchebycheff(0.05, utopia=0.0, sense="min")}
    figure = Figure(figsize=(5.5, 4.2), layout="constrained")
    axis, found = figure.subplots(), {}
    for name, scalarizer in scalarizers.items():
        runs = [[train(scalarizer, w, images, labels, steps, seed) for w in PREFERENCES] for seed in range(SEEDS)]
        found[name] = torch.stack([torch.stack(run) for run in runs]).mean(0)
        axis.plot(*found[name].T, "o-", label=name)
        for weights, losses in zip(PREFERENCES.tolist(), found[name].tolist(), strict=True):
            print(f"{name:<8} preference {weights[0]:.1f}: class {losses[0]:.3f}, parity {losses[1]:.3f}")
            axis.annotate(f"{weights[0]:.1f}", losses, textcoords="offset points", xytext=(5, 5), fontsize=8)
    axis.set(xlabel="loss of the class", ylabel="loss of the parity", title="numbers: preference for the class")
    axis.legend()
    figure.savefig(out, dpi=110)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
