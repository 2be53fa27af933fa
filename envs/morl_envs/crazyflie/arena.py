"""The base class of the quadrotor environments: walls, opponents on lanes, and the events that end an episode."""

import torch
from torch import Tensor

from morl_envs.base import BatchedEnv
from morl_envs.crazyflie.opponents import Patrol
from morl_envs.protocol import State


class FlightArena(BatchedEnv):
    """Drones between four walls, with patrolling opponents; an episode ends by collision, violation or success."""

    fresh_tensors = True
    patrol: Patrol
    _limits: Tensor

    def enclose(self, x_limit: float, y_limit: float, patrol: Patrol) -> None:
        """Create the walls and the opponents."""
        self.patrol = patrol
        self._limits = torch.tensor([x_limit, y_limit], dtype=torch.float32, device=self.device)

    def no_events(self, count: int) -> State:
        """Return the events of a new episode, in which nothing has happened yet, ``[n]`` each."""
        names = ("collided", "violated", "reached")
        return {name: torch.zeros(count, dtype=torch.bool, device=self.device) for name in names}

    def describe(self, state: State) -> dict[str, Tensor]:
        """Return how the last step ended."""
        return {"collision": state["collided"], "violation": state["violated"], "success": state["reached"]}

    def move_constants(self, device: torch.device) -> None:
        """Move the limits of the arena to another device."""
        self._limits = self._limits.to(device)
