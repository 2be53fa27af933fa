"""The pictures of the gallery: films and strips of the worlds, a table and a report. See ``make_pictures.py``."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw
from safetensors.torch import load_file, save_file
from torch import Tensor

from morl_envs.heuristics import HEURISTICS, RandomPolicy
from morl_envs.rendering.gymnasium_film import follow
from morl_envs.rendering.video import record_episode
from morl_envs.source import find_source
from morl_envs.worlds import create_world
from morl_recipes.analysis.datasets import find_dataset
from morl_recipes.analysis.report.page import write_report
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.evaluation.saved_policy import SavedPolicy, acting
from morl_recipes.store.store import Store

FOLDER = Path(__file__).parent / "pictures"
PUBLISHED = "stealth-200k"
ROWS = "PASTA Linear Tchebycheff 'No PCGrad'"
COMMAND = f"morl-blocks sweep --rows {ROWS} --envs stealth --total-steps 200704 --num-seeds 5 --out runs/gallery"
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
    # An octree keeps the colours of small things; the default spends its own on the floor.
    look: dict[str, Any] = {"method": Image.Quantize.FASTOCTREE, "dither": Image.Dither.NONE}
    frames = [frame.quantize(128, **look) for frame in beside(films, 290)]
    frames[0].save(FOLDER / "stealth.gif", save_all=True, append_images=frames[1:], duration=180, loop=0, optimize=True)
    beside({name: film[-1:] for name, film in films.items()}, 400)[0].save(FOLDER / "stealth_pair.png", optimize=True)
    crossing = record("CrazyflieFrogger", HEURISTICS["frogger"]["lane-waiting crosser"], 1003, 60)
    strip(crossing, "lane-waiting crosser").save(FOLDER / "frogger_strip.png", optimize=True)
    rushing = record("CrazyflieFormation", HEURISTICS["formation"]["goal rusher"], 5, 200)
    strip(rushing, "goal rusher").save(FOLDER / "formation_strip.png", optimize=True)


def cheetah() -> None:
    """Film the half-cheetah: random actions beside what PASTA and Linear have learnt."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    source, seed, preference = find_source("mo-halfcheetah-v5"), 3, (10 / 11, 1 / 11)
    films: dict[str, Sequence[Picture]] = {}
    for name in ("random actions", "PASTA", "Linear"):
        env = source.draw(1, [seed]) if source.draw else source.make(1, [seed])
        policy: Policy = RandomPolicy(env, seed)
        if name != "random actions":
            tensors = load_file(FOLDER / f"cheetah_{name.lower()}.safetensors")
            policy = acting(SavedPolicy(tensors, 2, env.action_low, env.action_high).eval(), preference)
        follow(env)
        films[name] = _gymnasium_film(env, policy, steps=180, every=6)
    frames = [frame.quantize(48, dither=Image.Dither.NONE) for frame in beside(films, 240)]
    frames[0].save(FOLDER / "cheetah.gif", save_all=True, append_images=frames[1:], duration=120, loop=0, optimize=True)


@torch.no_grad()
def _gymnasium_film(env: Any, policy: Policy, steps: int, every: int) -> list[Picture]:
    observation, film = env.reset_tensors(), []
    for step in range(steps):
        observation, *_ = env.step_tensors(policy(observation))
        if step % every == 0:
            film.append(env.envs[0].render())
    return film


def keep_cheetah(folder: Path, name: str) -> None:
    """Keep the policy of a training of the half-cheetah for the film."""
    store = Store.open(folder)
    tensors = load_file(store.path / "runs" / store.manifest.runs[0].run_id / "policy.safetensors")
    best = {name.removeprefix("peak."): tensor for name, tensor in tensors.items() if name.startswith("peak.")}
    save_file(best, FOLDER / f"cheetah_{name}.safetensors")


def joined(folders: Sequence[Path], out: Path) -> Store:
    """Copy the results of several sweeps with the same settings into one store."""
    stores = [Store.open(folder) for folder in folders]
    runs = tuple(run for store in stores for run in store.manifest.runs)
    store = Store.create(out, replace(stores[0].manifest, command=COMMAND, runs=runs))
    for one in stores:
        shutil.copytree(one.path / "runs", out / "runs", dirs_exist_ok=True)
    return store


def table() -> None:
    """Draw what ``morl-blocks table`` prints of the first group of the published results."""
    text = render_table(find_dataset(PUBLISHED), format="terminal", width=118)
    first = text.split("\n\n- ")[0]
    figure = Figure()
    figure.text(0.0, 1.0, first, family="monospace", size=8, va="top")
    figure.savefig(FOLDER / "table.png", dpi=130, bbox_inches="tight", pad_inches=0.1)


def latex() -> None:
    """Print the LaTeX table of the first group of the published results and photograph the page."""
    tables = render_table(find_dataset(PUBLISHED), format="latex").split("\n\n")
    page = "\\documentclass{article}\n\\usepackage[paperwidth=21cm, paperheight=14cm, margin=1cm]{geometry}\n"
    page += "\\usepackage{booktabs, graphicx}\n\\pagestyle{empty}\n\\begin{document}\n"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.tex").write_text(page + "\n\n".join(tables[:2]) + "\\end{document}\n")
        for command in (["pdflatex", "-interaction=batchmode", "page.tex"], ["pdftoppm", "-png", "page.pdf", "page"]):
            subprocess.run(
                [*command[:1], *(["-r", "110"] if command[0] == "pdftoppm" else []), *command[1:]], cwd=folder
            )
        (photo, *_) = Path(folder).glob("page*.png")
        image = Image.open(photo).convert("L")
        box = ImageChops.invert(image).getbbox() or (0, 0, *image.size)
        image.crop((box[0] - 20, box[1] - 20, box[2] + 20, box[3] + 20)).save(FOLDER / "latex.png", optimize=True)


def report(store: Store) -> None:
    """Write the report of a store and photograph it with a browser."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("The picture of the report needs chromium.")
    with tempfile.TemporaryDirectory() as folder:
        page, photo = Path(folder) / "report.html", Path(folder) / "report.png"
        write_report(store, page, title="Stealth visual search")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000"]
        subprocess.run([browser, *flags, "--window-size=1100,1300", f"--screenshot={photo}", page.as_uri()], check=True)
        Image.open(photo).quantize(128).save(FOLDER / "report.png", optimize=True)
