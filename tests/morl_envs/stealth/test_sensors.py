import math

import torch
from torch import Tensor

from morl_envs.counter_rng import episode_key
from morl_envs.stealth import sensors
from morl_envs.stealth.layout import draw_layout
from morl_envs.stealth.options import StealthOptions

FOV = 1.715
NORTH = torch.tensor([[0.0], [1.0]])
EAST = torch.tensor([[1.0], [0.0]])


def march(position: Tensor, rays: Tensor, circles: Tensor, boxes: Tensor, reach: float) -> Tensor:
    """March along rays by the distance to the nearest thing until it is touched: the brute-force lidar, ``[n, L]``."""
    travelled = torch.zeros(rays.shape[:2], dtype=torch.float64)
    for _ in range(2000):
        point = position[:, None] + travelled[..., None] * rays
        wall = 1 - point.abs().amax(-1)
        disc = ((point[:, :, None] - circles[:, None, :, :2]).norm(dim=-1) - circles[:, None, :, 2]).amin(-1)
        edge = (point[:, :, None] - boxes[:, None, :, :2]).abs() - boxes[:, None, :, 2:]
        box = edge.clamp(min=0).norm(dim=-1).amin(-1)
        nearest = torch.minimum(wall, torch.minimum(disc, box)).clamp(min=0)
        going = (nearest > 1e-6) & (travelled < reach)
        if not going.any():
            break
        travelled = torch.where(going, travelled + nearest, travelled)
    return travelled.clamp(max=reach)


def test_lidar_equals_a_ray_march_on_a_thousand_layouts() -> None:
    o, n = StealthOptions(), 1000
    layout = draw_layout(episode_key(torch.arange(n), torch.full((n,), 9)), o)
    generator = torch.Generator().manual_seed(0)
    scanned = torch.rand(n, 8, generator=generator) < 0.5
    fan, heading = torch.arange(20) * (2 * math.pi / 20), layout["heading"]
    angles = heading[:, None] + fan
    rays = torch.stack([angles.cos(), angles.sin()], -1)
    unit = torch.stack([fan.cos(), fan.sin()]).unsqueeze(-1)
    turned = sensors.ray_directions(torch.stack([heading.cos(), heading.sin()]), unit)
    torch.testing.assert_close(turned, rays.permute(2, 1, 0), atol=1e-5, rtol=0)
    discs = torch.cat([layout["circles"], torch.nn.functional.pad(layout["targets"], (0, 1), value=0.03)], 1)
    absent = torch.cat([torch.zeros(n, 3, dtype=torch.bool), scanned], 1)
    fast = sensors.lidar(
        layout["position"].T,
        rays.permute(2, 1, 0),
        discs.permute(2, 1, 0),
        absent.T,
        layout["boxes"].permute(2, 1, 0),
        (1.0, 1.0),
    ).clamp(max=0.35)
    shown = torch.where(absent[..., None], torch.tensor([50.0, 50.0, 0.0]), discs)
    slow = march(layout["position"].double(), rays.double(), shown.double(), layout["boxes"].double(), 0.35)
    assert (fast.T - slow).abs().max() < 1e-3
    assert (slow < 0.349).float().mean() > 0.2  # the comparison has something to see


def bearing_target(degrees: float, distance: float = 0.25) -> Tensor:
    angle = math.radians(degrees)
    return torch.tensor([[[distance * math.cos(angle)]], [[distance * math.sin(angle)]]])


def test_sectors_of_the_field_of_view_turn_with_the_robot() -> None:
    inside = {-49: 0, -17: 0, -16: 1, 0: 1, 16: 1, 17: 2, 49: 2, -50: None, 50: None, 180: None}
    for degrees, sector in inside.items():
        for ahead, heading in ((0, EAST), (90, NORTH)):
            found = sensors.in_sectors(bearing_target(degrees + ahead), heading, FOV)[:, 0, 0]
            assert found.tolist() == [k == sector for k in range(3)], degrees


def test_vision_grid_counts_near_before_far() -> None:
    offset = torch.cat([bearing_target(*target) for target in ((0, 0.1), (0, 0.29), (30, 0.5), (0, 0.7))], 1)
    sectors, seen = sensors.in_sectors(offset, EAST, FOV), torch.ones(4, 1, dtype=torch.bool)
    grid = sensors.vision_grid(sectors, seen, offset.norm(dim=0), 0.6)
    assert grid[:, 0].tolist() == [0, 0.5, 0, 0, 0, 0.25]
    assert sensors.vision_grid(sectors, ~seen, offset.norm(dim=0), 0.6).sum() == 0


def test_line_of_sight() -> None:
    position = torch.zeros(2, 1)
    targets = torch.tensor([[[0.5], [0.0], [-0.5]], [[0.0], [0.5], [0.0]]])  # east, north, west
    circle, box = torch.tensor([[[0.3]], [[0.0]], [[0.05]]]), torch.tensor([[[0.0]], [[0.3]], [[0.2]], [[0.02]]])
    assert sensors.line_of_sight(position, targets, circle, box)[:, 0].tolist() == [False, False, True]
