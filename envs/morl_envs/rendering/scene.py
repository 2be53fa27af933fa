"""The picture of one environment of a batch, with its trail and its returns so far."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from morl_envs import _checks, _names
from morl_envs._loading import load
from morl_envs.base import BatchedEnv
from morl_envs.cards import world_cards
from morl_envs.rendering.canvas import FAINT, Canvas

Row = dict[str, Tensor]
Drawing = Callable[..., Canvas]


def drawing_of(world: type[BatchedEnv]) -> Drawing:
    """Return the function that draws an environment: from its card, or from its parent class's card."""
    known = {card.world: card.drawing for card in world_cards()}
    drawings = (known.get(f"{parent.__module__}:{parent.__qualname__}") for parent in world.__mro__)
    if (path := next(filter(None, drawings), None)) is None:
        _names.fail("env", "have a card that names a drawing", world.__name__)
    drawing: Drawing = load(path)
    return drawing


class Scene:
    """Follow environment ``index`` of a batch: call :meth:`record` after every reset and step, then :meth:`frame`.

    Args:
        env: A torch environment.
        index: Index of the environment in the batch.

    Example:
        >>> from morl_envs import StealthVisualSearch
        >>> env = StealthVisualSearch(batch_size=[2])
        >>> scene = Scene(env, index=1)
        >>> scene.record()
        >>> scene.frame().shape
        (512, 758, 3)
    """

    def __init__(self, env: BatchedEnv, index: int = 0) -> None:
        _checks.between("index", index, 0, env.num_envs - 1)
        self.env, self.index = env, index
        self.trail: list[list[list[float]]] = []
        self.returns = np.zeros(len(env.objectives))
        self._draw = drawing_of(type(env))

    def record(self, reward: list[float] | None = None) -> None:
        """Record the current step; the trail and the returns start again with every episode."""
        row = self._row()
        if int(row["step"]) == 0:
            self.trail, self.returns = [], np.zeros(len(self.env.objectives))
        elif reward is not None:
            self.returns = self.returns + np.asarray(reward)
        self.trail.append(row["position"].reshape(-1, 2).tolist())

    def frame(self) -> NDArray[np.uint8]:
        """Return the picture, ``[height, width, 3]`` bytes."""
        row = self._row()
        canvas = self._draw(self.env, row, np.asarray(self.trail))
        canvas.space()
        canvas.line("return so far", bold=True)
        for name, value in zip(self.env.objectives, self.returns, strict=True):
            canvas.line(f"{name}: {value:.2f}", size=10)
        canvas.space()
        canvas.line(f"step {int(row['step'])} of {self.env.horizon}", size=10, colour=FAINT)
        return canvas.array()

    def _row(self) -> Row:
        return {name: tensor[self.index] for name, tensor in self.env.get_state().items()}
