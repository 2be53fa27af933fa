"""A small physics-informed network: the residual of u'' = f and two boundary values, in different units."""

import math
from collections.abc import Callable
from pathlib import Path

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from morl_blocks.normalizers import InitialValue, Normalizer
from morl_blocks.scalarizers import SmoothTchebycheff

WAVES, POINTS = 2, 64  # u(x) = cos(WAVES pi x) solves the equation exactly
UNIT = 1000.0  # of the residual; an equation can be written in any unit
WEIGHTS = torch.full((3,), 1 / 3)


def losses_of(net: nn.Module, x: Tensor) -> Tensor:
    """Return the mean squared residual and the squared errors at both ends, ``[3]``."""
    x = x.clone().requires_grad_()
    u: Tensor = net(x)
    (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    residual = UNIT * (bend + (WAVES * math.pi) ** 2 * (WAVES * math.pi * x).cos())
    return torch.stack([residual.square().mean(), (u[0] - 1).square().sum(), (u[-1] - 1).square().sum()])


def stch(normalizer: Normalizer | None) -> Callable[[Tensor], Tensor]:
    """Minimise the smooth worst loss, of the losses as they are or normalised."""
    scalarizer: Callable[..., Tensor] = SmoothTchebycheff(0.01, utopia=0.0, sense="min")

    def utility(losses: Tensor) -> Tensor:
        if normalizer is not None and not normalizer.updates:
            normalizer.update(losses)
        return scalarizer(losses if normalizer is None else normalizer(losses), WEIGHTS)

    return utility


def train(utility: Callable[[Tensor], Tensor], steps: int) -> tuple[Tensor, Tensor]:
    """Return the largest error over the training, ``[steps]``, and the solution found, ``[n]``."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimiser, x = torch.optim.Adam(net.parameters(), 2e-3), torch.linspace(0, 1, POINTS).unsqueeze(-1)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, steps)
    errors = []
    for _ in range(steps):
        optimiser.zero_grad()
        utility(losses_of(net, x)).backward()
        optimiser.step()
        decay.step()
        errors.append((net(x) - (WAVES * math.pi * x).cos()).abs().max().detach())
    return torch.stack(errors), net(x).detach().squeeze(-1)


def main(steps: int = 1500, out: Path = Path("pinn.png")) -> dict[str, float]:
    """Train with three utilities, draw the solutions and errors, and return the final errors."""
    utilities: dict[str, Callable[[Tensor], Tensor]]
    utilities = {"plain sum": Tensor.sum, "STCH": stch(None), "STCH, normalised": stch(InitialValue())}
    left, right = (figure := Figure(figsize=(9, 3.6), layout="constrained")).subplots(1, 2)
    found, x = {}, torch.linspace(0, 1, POINTS)
    left.plot(x, (WAVES * math.pi * x).cos(), color="0.8", linewidth=6, label="exact")
    for name, utility in utilities.items():
        errors, u = train(utility, steps)
        found[name] = float(errors[-1])
        print(f"{name:<18} largest error {found[name]:.1e}")
        left.plot(x, u, label=name)
        right.semilogy(errors, label=name)
    left.set(xlabel="x", ylabel="u(x)")
    right.set(xlabel="step", ylabel="largest error")
    left.legend()
    figure.savefig(out, dpi=110)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
