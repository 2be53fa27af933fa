"""Data-parallel training in two processes: gradients are averaged per objective, and then combined."""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import torch
import torch.distributed as dist
from torch import Tensor, nn

from morl_blocks import objective_jacobian
from morl_blocks.combiners import PCGrad

PROCESSES, STEPS = 2, 20


def write_gradients(update: Tensor, params: list[nn.Parameter]) -> None:
    """Write a flat update, ``[P]``, to ``.grad``."""
    for param, piece in zip(params, update.split([param.numel() for param in params]), strict=True):
        param.grad = piece.view_as(param)


def train(x: Tensor, targets: Tensor) -> Tensor:
    """Train on the samples of this process and return all parameters."""
    torch.manual_seed(0)  # the same weights everywhere; DistributedDataParallel would broadcast them
    model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
    params, optimiser = list(model.parameters()), torch.optim.Adam(model.parameters(), 1e-2)
    combiner = PCGrad(seed=0)  # the same random orders everywhere
    for _ in range(STEPS):
        losses = (model(x) - targets).square().mean(0)
        jacobian = objective_jacobian(losses, params)
        if dist.is_initialized():
            dist.all_reduce(jacobian)
            jacobian /= dist.get_world_size()
        write_gradients(combiner(jacobian), params)
        optimiser.step()
    return nn.utils.parameters_to_vector(params).detach()


def data() -> tuple[Tensor, Tensor]:
    """Return three tasks with the same input."""
    x = torch.randn(256, 3, generator=torch.Generator().manual_seed(0))
    return x, torch.stack([x.sum(-1), -x.sum(-1), x[:, 0] * x[:, 1]], -1)


def work(rank: int, folder: str) -> None:
    """Train on every second sample and compare with the other process."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=PROCESSES)
    x, targets = data()
    params = train(x[rank::PROCESSES], targets[rank::PROCESSES])
    others = [torch.empty_like(params) for _ in range(PROCESSES)]
    dist.all_gather(others, params)
    dist.destroy_process_group()
    if rank == 0:
        apart = max(float((params - other).abs().max()) for other in others)
        print(f"the processes are apart by {apart:.0e}")
        print(f"one process with all samples is apart by {float((params - train(x, targets)).abs().max()):.0e}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        list(pool.map(work, range(PROCESSES), repeat(name)))
