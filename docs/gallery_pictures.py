"""The pictures of the gallery: films and strips of the worlds, a table and a report. See ``make_pictures.py``."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from safetensors.torch import load_file
from torch import Tensor

from morl_envs.heuristics import HEURISTICS
from morl_envs.rendering.video import record_episode
from morl_envs.worlds import create_world
from morl_recipes.report import write_report
from morl_recipes.saved_policy import SavedPolicy, acting
from morl_recipes.table import render_table

FOLDER = Path(__file__).parent / "pictures"
PREFERENCE = (0.5, 0.3, 0.2)  # score, stealth, exploration
Policy = Callable[[Tensor], Tensor]
Picture = NDArray[np.uint8]


def trained() -> Policy:
    """Return the policy of the pictures: PASTA after 200,704 steps of stealth visual search, its best validation."""
    policy = SavedPolicy(load_file(FOLDER / "stealth_pasta.safetensors"), 3, *_bounds())
    return acting(policy.eval(), PREFERENCE)


def _bounds() -> tuple[Tensor, Tensor]:
    world = create_world("StealthVisualSearch", seed=0)
    return torch.as_tensor(world.action_low), torch.as_tensor(world.action_high)


def record(world: str, policy: Policy, seed: int, frames: int) -> list[Picture]:
    """Play one episode and return about ``frames`` pictures of it."""
    env = create_world(world, seed=seed)
    return record_episode(env, policy, every=max(1, env.horizon // frames))


def beside(films: dict[str, Sequence[Picture]], height: int) -> list[Image.Image]:
    """Put films side by side under their names; the last keeps its legend, a shorter one stands still at its end."""
    frames = []
    for k in range(max(map(len, films.values()))):
        moments = [film[min(k, len(film) - 1)] for film in films.values()]
        frames.append(_row([*map(_arena, moments[:-1]), moments[-1]], height, list(films)))
    return frames


def strip(film: Sequence[Picture], name: str, count: int = 4) -> Image.Image:
    """Put a few moments of a film in a row, the last with its legend."""
    moments = [film[k] for k in np.linspace(0, len(film) - 1, count).round().astype(int)]
    return _row([*map(_arena, moments[:-1]), moments[-1]], 260, [name])


def _arena(picture: Picture) -> Picture:
    """Return the square on the left, without the legend."""
    return picture[:, : picture.shape[0]]


def _row(pictures: Sequence[Picture], height: int, names: Sequence[str], margin: int = 22) -> Image.Image:
    """Scale pictures to one height and put them in a row, with names above."""
    images = [Image.fromarray(picture).convert("RGB") for picture in pictures]
    sizes = [(round(image.width * height / image.height), height) for image in images]
    row = Image.new("RGB", (sum(width for width, _ in sizes), height + margin), "white")
    draw, place = ImageDraw.Draw(row), 0
    for k, (image, size) in enumerate(zip(images, sizes, strict=True)):
        row.paste(image.resize(size, Image.Resampling.LANCZOS), (place, margin))
        if k < len(names):
            draw.text((place + 12, 3), names[k], fill="black", font_size=15)
        place += size[0]
    return row


def worlds() -> None:
    """Film the three worlds: heuristics, and on stealth a trained policy beside one."""
    films: dict[str, Sequence[Picture]] = {
        "by hand: greedy searcher": record("StealthVisualSearch", HEURISTICS["stealth"]["greedy searcher"], 1004, 26),
        "PASTA after 200,704 steps": record("StealthVisualSearch", trained(), 1004, 26),
    }
    frames = [frame.quantize(48, dither=Image.Dither.NONE) for frame in beside(films, 290)]
    frames[0].save(FOLDER / "stealth.gif", save_all=True, append_images=frames[1:], duration=180, loop=0, optimize=True)
    beside({name: film[-1:] for name, film in films.items()}, 400)[0].save(FOLDER / "stealth_pair.png", optimize=True)
    crossing = record("CrazyflieFrogger", HEURISTICS["frogger"]["lane-waiting crosser"], 1003, 60)
    strip(crossing, "lane-waiting crosser").save(FOLDER / "frogger_strip.png", optimize=True)
    rushing = record("CrazyflieFormation", HEURISTICS["formation"]["goal rusher"], 5, 200)
    strip(rushing, "goal rusher").save(FOLDER / "formation_strip.png", optimize=True)


def table(store: Path) -> None:
    """Draw what ``morl-blocks table`` prints of a store's first group."""
    text = render_table(store, format="terminal")
    first = text.split("\n\n- ")[0].split("\n\n")[0]
    figure = Figure()
    figure.text(0.0, 1.0, first, family="monospace", size=8, va="top")
    figure.savefig(FOLDER / "table.png", dpi=130, bbox_inches="tight", pad_inches=0.1)


def report(store: Path) -> None:
    """Write the report of a store and photograph it with a browser."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("The picture of the report needs chromium.")
    with tempfile.TemporaryDirectory() as folder:
        page, photo = Path(folder) / "report.html", Path(folder) / "report.png"
        write_report(store, page, title="PASTA and two others")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000"]
        subprocess.run([browser, *flags, "--window-size=1100,1300", f"--screenshot={photo}", page.as_uri()], check=True)
        Image.open(photo).quantize(128).save(FOLDER / "report.png", optimize=True)
