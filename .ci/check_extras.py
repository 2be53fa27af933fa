"""Try the wheel of a folder in a clean environment: without any extra, then with the packages of one extra at a time.

Without them everything else must work, and what needs one must say which. With one alone, its part must be content.
"""

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple


class Extra(NamedTuple):
    """An extra, what it brings, and a line that needs it."""

    name: str
    packages: tuple[str, ...]
    line: str


EVERYTHING = """
import morl_blocks, morl_envs, morl_recipes
from morl_blocks import combiners, critics, metrics, ppo, scalarizers, schedulers, transforms
from morl_recipes import PASTA, ROWS, train
from morl_recipes.cli import main
assert "site-packages" in morl_blocks.__file__, morl_blocks.__file__
assert main(["list"]) == 0
"""

EXTRAS = (
    Extra("torchjd", ("torchjd",), "from morl_recipes.recipe.specs import TorchJD; TorchJD('UPGrad').build()"),
    Extra("mujoco", ("mujoco",), "from morl_envs import make_batch; make_batch('mo-hopper-v5', 1, 0)"),
    Extra("box2d", ("Box2D",), "from morl_envs import make_batch; make_batch('mo-lunar-lander-continuous-v3', 1, 0)"),
    Extra("ray", ("ray",), "from morl_recipes.running import RayEngine; RayEngine('bad address')"),
    Extra(
        "report",
        ("plotly",),
        "from morl_recipes.analysis.report import write_report; write_report('no', 'x')",
    ),
    Extra("polars", ("polars",), "from morl_recipes.store import load_runs; load_runs('nowhere', frame='polars')"),
    Extra(
        "export",
        ("onnx", "onnxruntime"),
        "from morl_recipes.running.export import export_policy as e; e('no', 'x')",
    ),
)

HIDE = "import sys\nfor name in {names!r}: sys.modules[name] = None\n"
ASK = """
try:
    {line}
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""


def install(folder: Path, wheel: Path) -> Path:
    """Return the Python of a new environment with the wheel in it; the other packages are borrowed from this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def run(python: Path, code: str, folder: Path) -> str:
    """Run code in the environment and return what it printed; exit with its error if it fails."""
    done = subprocess.run([python, "-c", code], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{code}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(dist: str) -> None:
    """Exit with a message at the first extra that does not behave."""
    (wheel,) = Path(dist).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = install(folder / "venv", wheel)
        hidden = [package for extra in EXTRAS for package in extra.packages]
        asked = "".join(ASK.format(line=extra.line) for extra in EXTRAS)
        said = run(python, HIDE.format(names=hidden) + EVERYTHING + asked, folder)
        for extra in EXTRAS:
            if f"morl-blocks[{extra.name}]" not in said:
                sys.exit(f"{extra.name}: without {extra.packages} nothing named morl-blocks[{extra.name}]:\n{said}")
            others = [package for package in hidden if package not in extra.packages]
            said_with = run(python, HIDE.format(names=others) + ASK.format(line=extra.line), folder)
            if "morl-blocks[" in said_with:
                sys.exit(f"{extra.name}: with {extra.packages} alone: {said_with}")
    print(f"{wheel.name}: works without extras, and asks for each by name: {', '.join(e.name for e in EXTRAS)}")


if __name__ == "__main__":
    main(sys.argv[1])
