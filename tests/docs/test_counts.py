import math
import re
from importlib import resources
from pathlib import Path
from typing import Any

from morl_blocks.ppo.actors import INITIAL_LOG_STD
from morl_envs import CARDS
from morl_recipes import PASTA, front_recipe
from morl_recipes.cli.listing import ROWS_TEXT
from morl_recipes.common import toml
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import read_sweep

ROOT = Path(__file__).parents[2]


def _page(name: str) -> str:
    return " ".join((ROOT / name).read_text().split())


def test_recipes_and_environments() -> None:
    paper, _, own, readings = map(int, re.findall(r"\d+", ROWS_TEXT.read_text().splitlines()[0]))
    assert f"# {paper} recipes of the paper, {own + readings} more, {len(CARDS)} environments" in _page("README.md")
    assert f"# {paper + own + readings} recipes with what each changes, {len(CARDS)} environments" in _page(
        "docs/quick_start.md"
    )


def test_runs_of_the_ready_sweeps() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", (ROOT / "docs/run_the_paper.md").read_text(), re.MULTILINE)
    shipped = {
        path.name.removesuffix(".toml") for path in (resources.files("morl_recipes") / "data" / "sweeps").iterdir()
    }
    assert {name for name, _ in rows} == {name for name in shipped if not name.startswith("_")}
    for name, runs in rows:
        assert len(make_plan(read_sweep(name)).runs) == int(runs), name


def test_the_python_that_is_promised() -> None:
    project = toml.loads((ROOT / "pyproject.toml").read_text())
    lowest = project["project"]["requires-python"].removeprefix(">=")
    run = [line.rsplit(" ", 1)[1] for line in project["project"]["classifiers"] if ":: 3." in line]
    assert lowest == min(run, key=lambda text: [int(part) for part in text.split(".")])
    assert project["tool"]["ruff"]["target-version"] == "py" + lowest.replace(".", "")
    assert f"Python {lowest} or newer" in _page("README.md")
    assert f"| Python | {', '.join(run)} | {lowest} or newer |" in _page("docs/logging_devices_threads.md")


def test_what_the_readme_installs_is_enough_for_every_command() -> None:
    """Report, export, films and the recipes of other packages ask for extras; a newcomer shall not be asked."""
    extras = toml.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (whole,) = extras["all"]
    apart = {"all", "bench", "dev", "docs", "llm"} | {"metrics", "rl"}  # `train` brings the last two
    assert set(re.findall(r"\w+", whole.partition("[")[2])) == set(extras) - apart
    for page in ("README.md", "docs/quick_start.md"):
        assert "pip install -c constraints.txt '.[all]'" in _page(page)


def test_the_numbers_for_fronts_are_those_of_the_recipe() -> None:
    ours: Any = front_recipe("mo-ant-v5")
    choices, box, paper = front_recipe("minecart-v0").ppo, ours.ppo, PASTA.ppo
    rates = [f"{ppo.learning_rate:.0e}".replace("e-0", "e-") for ppo in (paper, choices, box)]
    spread, first = ours.actor.log_std, math.exp(INITIAL_LOG_STD)
    page = _page("docs/fronts.md")
    for cells in (
        f"PyTorch's, {first:.1f} of the box | small, {math.exp(spread):.2f} (`log_std={spread}`)",
        f"{paper.entropy_coefficient} | discrete {choices.entropy_coefficient}, continuous {box.entropy_coefficient:g}",
        f"{rates[0]}, {paper.minibatch_size} | discrete {rates[1]}, continuous {rates[2]}; {box.minibatch_size}",
        f"the run's own | `Dirichlet({ours.preferences.alpha})`",
    ):
        assert f"| {cells} |" in page, cells
    assert choices.minibatch_size == box.minibatch_size
