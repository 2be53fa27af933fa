"""Two tasks that share a trunk, trained with only the blocks: no policy, no environment, no TorchRL."""

import sys

import torch
from torch import nn

from morl_blocks import combine_gradients
from morl_blocks.combiners import WeightedPCGrad
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff
from morl_blocks.schedulers import ConflictBraked

STEPS = 200


def main() -> None:
    """Train a two-headed regression; ASTCH gives most attention to the task that lags behind."""
    torch.manual_seed(0)
    x = torch.randn(256, 3)
    targets = torch.stack([x.sum(-1), x[:, 0] * x[:, 1]], -1)  # an easy and a hard task
    model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
    scalarizer = AdaptiveSmoothTchebycheff(ConflictBraked(), sense="min")
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    weights, conflict = torch.tensor([0.5, 0.5]), torch.tensor(0.0)
    for step in range(STEPS):
        losses = (model(x) - targets).square().mean(0)
        scalarizer.step(step / STEPS, conflict)
        attention = scalarizer.attention(losses.detach(), weights)
        optimiser.zero_grad()
        conflict, _ = combine_gradients(losses, model.parameters(), WeightedPCGrad(), attention)
        optimiser.step()
    print("losses", [round(loss, 3) for loss in losses.tolist()])
    print("torchrl imported:", "torchrl" in sys.modules)


if __name__ == "__main__":
    main()
