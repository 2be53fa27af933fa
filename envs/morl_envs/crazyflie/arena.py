"""What the flight worlds share: walls, opponents on their lanes, and the ways in which a step can end."""

import torch
from torch import Tensor

from morl_envs.base import BatchedEnv
from morl_envs.crazyflie.opponents import Patrol
from morl_envs.protocol import State


class FlightArena(BatchedEnv):
    """A world of drones between four walls, with opponents on patrol; it ends by collision, violation or success."""

    fresh_tensors = True
    patrol: Patrol
    _limits: Tensor

    def enclose(self, x_limit: float, y_limit: float, patrol: Patrol) -> None:
        """Put up the walls, and the opponents between them."""
        self.patrol = patrol
        self._limits = torch.tensor([x_limit, y_limit], dtype=torch.float32, device=self.device)

    def no_events(self, count: int) -> State:
        """Return the events of episodes in which nothing has happened yet, ``[n]`` each."""
        names = ("collided", "violated", "reached")
        return {name: torch.zeros(count, dtype=torch.bool, device=self.device) for name in names}

    def describe(self, state: State) -> dict[str, Tensor]:
        """Tell how the last step ended."""
        return {"collision": state["collided"], "violation": state["violated"], "success": state["reached"]}

    def move_constants(self, device: torch.device) -> None:
        """Move the limits of the arena."""
        self._limits = self._limits.to(device)
