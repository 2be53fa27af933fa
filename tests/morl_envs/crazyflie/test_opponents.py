from dataclasses import replace

import pytest
import torch

from morl_envs.counter_rng import episode_key
from morl_envs.crazyflie.opponents import Patrol, draw_opponents, move_opponents
from tests.refusals import refused

PATROL = Patrol(lanes=(-0.3, 0.3), speeds=(0.03, 0.04), limit=0.95, flip_probability=0.05, time_step=0.1)


def start(count: int, patrol: Patrol = PATROL) -> dict[str, torch.Tensor]:
    zero = torch.zeros(count, dtype=torch.int64)
    key = episode_key(torch.arange(count), zero)
    return {"key": key, "step": zero, **draw_opponents(key, patrol)}


def test_opponents_flip_at_their_rate_and_keep_their_lane() -> None:
    state = start(400)
    speed = state["velocity"].abs()
    assert speed.unique().tolist() == pytest.approx([0.03, 0.04])
    flips = moves = 0
    for _ in range(500):
        old = state
        state = {**old, **move_opponents(old, PATROL), "step": old["step"] + 1}
        now, before = state["opponents"][:, 0], old["opponents"][:, 0]
        assert now[..., 0].abs().max() <= 0.95
        assert torch.equal(now[..., 1], torch.tensor([-0.3, 0.3]).expand(400, 2))
        assert torch.equal(state["velocity"].abs(), speed)
        inner = before[..., 0].abs() < 0.94  # away from the ends, where the bounce decides
        flips += int(((state["velocity"] != old["velocity"]) & inner).sum())
        moves += int(inner.sum())
        assert ((now - before)[..., 0].abs() <= 0.1 * speed + 1e-6).all()
    assert flips / moves == pytest.approx(0.05, abs=0.005)


def test_bounce() -> None:
    patrol = Patrol((0.0,), (0.04,), 0.95, 0.0, 0.1)
    state = start(1, patrol)
    state["opponents"] = torch.tensor([0.949, 0.0]).expand(1, 4, 1, 2).clone()
    state["velocity"] = torch.tensor([[0.04]])
    state = {**state, **move_opponents(state, patrol)}
    assert float(state["opponents"][0, 0, 0, 0]) == pytest.approx(0.95)
    assert float(state["velocity"]) == pytest.approx(-0.04)
    state = {**state, **move_opponents(state, patrol)}
    assert float(state["opponents"][0, 0, 0, 0]) == pytest.approx(0.946)


def test_the_history_holds_the_last_four_positions_newest_first() -> None:
    state, xs = start(3), []
    xs.append(state["opponents"][:, 0])
    for _ in range(5):
        state = {**state, **move_opponents(state, PATROL), "step": state["step"] + 1}
        xs.insert(0, state["opponents"][:, 0])
    assert torch.equal(state["opponents"], torch.stack(xs[:4], 1))


def test_bad_patrols() -> None:
    refused("`lanes` must be 1 or more", replace, PATROL, lanes=())
    refused("`opponent_speeds` must be >= 0", replace, PATROL, speeds=(-0.1, 0.1))
    refused("`x_limit` must be > 0", replace, PATROL, limit=0.0)
    refused(r"`flip_probability` must lie in \[0, 1\], got 1.5", replace, PATROL, flip_probability=1.5)
