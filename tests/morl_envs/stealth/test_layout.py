from importlib import import_module
from typing import Any

import torch

from morl_envs import geometry
from morl_envs.counter_rng import episode_key
from morl_envs.stealth.layout import draw_layout
from morl_envs.stealth.options import StealthOptions
from tests.refusals import refused

ndimage: Any = import_module("scipy.ndimage")


def keys(count: int) -> torch.Tensor:
    return episode_key(torch.arange(count), torch.zeros(count, dtype=torch.int64))


def test_a_thousand_layouts_keep_their_distances() -> None:
    o = StealthOptions()
    layout = draw_layout(keys(1000), o)
    circles, boxes = layout["circles"], layout["boxes"]
    centre = torch.cat([circles[..., :2], boxes[..., :2]], 1)
    half = torch.cat([torch.zeros(1000, 3, 2), boxes[..., 2:]], 1)
    radius = torch.cat([circles[..., 2], torch.zeros(1000, 3)], 1)
    wall = 1 - (centre.abs() + half + radius.unsqueeze(-1)).amax(-1)
    assert wall.min() >= o.passage - 1e-6
    shapes = centre.movedim(-1, 0), half.movedim(-1, 0), radius
    gaps = geometry.rounded_gap(
        (shapes[0][..., None], shapes[1][..., None], shapes[2][..., None]),
        (shapes[0][:, :, None], shapes[1][:, :, None], shapes[2][:, None]),
    )
    assert gaps[:, ~torch.eye(6, dtype=torch.bool)].min() >= o.passage - 1e-6
    free = torch.cat([layout["position"][:, None], layout["targets"]], 1)
    assert free.abs().max() <= 1 - o.robot_radius - o.clearance + 1e-6
    for k in range(6):
        apart = ((free - centre[:, k, None]).abs() - half[:, k, None]).clamp(min=0).norm(dim=-1)
        assert (apart - radius[:, k, None]).min() >= o.robot_radius + o.clearance - 1e-6
    assert layout["heading"].abs().max() <= torch.pi
    assert 0.05 <= circles[..., 2].min() <= circles[..., 2].max() <= 0.12
    assert 0.04 <= boxes[..., 2:].min() <= boxes[..., 2:].max() <= 0.10


def test_every_target_is_reachable_by_flood_fill() -> None:
    """Check the claim of the docstring independently: one connected region of free cells holds start and targets."""
    o = StealthOptions()
    layout = draw_layout(keys(40), o)
    axis = torch.linspace(-0.95, 0.95, 381)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1)
    for k in range(40):
        free = torch.ones(381, 381, dtype=torch.bool)
        for x, y, radius in layout["circles"][k]:
            free &= (grid - torch.stack([x, y])).norm(dim=-1) >= radius + o.robot_radius
        for x, y, width, height in layout["boxes"][k]:
            outside = ((grid - torch.stack([x, y])).abs() - torch.stack([width, height])).clamp(min=0)
            free &= outside.norm(dim=-1) >= o.robot_radius
        regions, _ = ndimage.label(free.numpy())
        spots = torch.cat([layout["position"][k, None], layout["targets"][k]])
        cells = ((spots + 0.95) / 0.005).round().long()
        found = {int(regions[i, j]) for i, j in cells.tolist()}
        assert len(found) == 1
        assert 0 not in found


def test_a_layout_does_not_depend_on_its_neighbours() -> None:
    o = StealthOptions(num_circles=5, num_boxes=5)  # crowded: some layouts need a second attempt
    together = draw_layout(keys(64), o)
    alone = draw_layout(keys(64)[17:18], o)
    for name, tensor in alone.items():
        assert torch.equal(together[name][17], tensor[0])


def test_an_impossible_arena_is_a_clear_error_and_an_empty_one_is_possible() -> None:
    refused("arena is too full: 60 circles, 3", draw_layout, keys(2), StealthOptions(num_circles=60, layout_attempts=3))
    layout = draw_layout(keys(3), StealthOptions(num_circles=0, num_boxes=0, num_targets=1))
    assert layout["circles"].shape == (3, 0, 3)
    assert layout["boxes"].shape == (3, 0, 4)
