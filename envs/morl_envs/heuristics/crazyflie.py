"""Policies for frogger and formation that use only the observation."""

import torch
from torch import Tensor

from morl_envs import _checks
from morl_envs.crazyflie.flight import norm
from morl_envs.crazyflie.formation import DRONES, centre_of_mass, triangle

_TOP_STEP = 0.005


def _towards(offset: Tensor) -> Tensor:
    """Command full speed along an offset ``[*B, 2]``, and less within the last step."""
    return offset / norm(offset).clamp(min=_TOP_STEP).unsqueeze(-1)


def _sidestep(x: Tensor, opponent: Tensor, gap: float, limit: float) -> Tensor:
    """Return the x at which an opponent on the next lane is ``gap`` away, on the nearer side with enough room."""
    left, right = opponent - gap, opponent + gap
    go_left = ((x < opponent) & (left > -limit)) | (right > limit)
    return torch.where(go_left, left, right).clamp(-limit, limit)


def lane_waiting_crosser(observation: Tensor) -> Tensor:
    """Cross lane after lane, each only while its opponent is far: reaches the goal safely, but slowly."""
    _checks.observation(observation, 8)
    position, to_goal = observation[:, :2], observation[:, 2:4]
    opponents = observation[:, 4:8].view(-1, 2, 2)
    x, y = position.unbind(-1)
    move = _towards(to_goal)
    for k in (1, 0):
        opponent, lane = opponents[:, k].unbind(-1)
        ahead = (y < lane - 0.13) & (y > lane - 0.2)
        inside = (y - lane).abs() <= 0.13
        near = (x - opponent).abs() < 0.4
        aside = torch.stack([_sidestep(x, opponent, 0.42, 0.85) - x, torch.zeros_like(x)], -1)
        away = torch.stack([(x - opponent).sign() * 0.5, torch.ones_like(x)], -1)
        # Cross a lane at a right angle; flying towards the goal would take longer and may lead to the opponent.
        through = torch.stack([torch.zeros_like(x), torch.ones_like(x)], -1)
        move = torch.where((ahead & near).unsqueeze(-1), _towards(aside), move)
        move = torch.where((ahead & ~near).unsqueeze(-1), through, move)
        move = torch.where(inside.unsqueeze(-1), torch.where(near.unsqueeze(-1), away, through), move)
    return move


def patient_hoverer(observation: Tensor) -> Tensor:
    """Hover between the wall and the first lane: maximal safety rewards, but never the goal."""
    _checks.observation(observation, 2)
    place = torch.tensor([0.0, -0.68], dtype=observation.dtype, device=observation.device)
    return _towards(place - observation[:, :2])


def goal_rusher(observation: Tensor) -> Tensor:
    """Fly straight to the goal and ignore the traffic; works in frogger and, drone by drone, in formation."""
    _checks.observation(observation, 14)
    if observation.shape[-1] == 20:
        return _towards(observation[:, 2:4])
    return _towards(observation[:, 12:14]).repeat(1, DRONES)


def formation_keeper(observation: Tensor) -> Tensor:
    """Form the triangle at the team's current place and hold it there."""
    _checks.observation(observation, 14)
    position = observation[:, : 2 * DRONES].view(-1, DRONES, 2)
    place = torch.tensor([0.0, -0.55], dtype=observation.dtype, device=observation.device)
    centre = centre_of_mass(position)
    # The team moves to the middle of the start zone, where it is far from the walls and the opponent.
    drift = 0.2 * (place - centre).clamp(-0.05, 0.05)
    shape = torch.tensor(triangle(0.45), dtype=observation.dtype, device=observation.device)
    corners = centre.unsqueeze(1) + drift.unsqueeze(1) + shape
    return _towards(corners - position).flatten(1)
