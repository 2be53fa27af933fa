"""Install each extra alone into a clean environment, try what it is for, and print what it brings.

``python .ci/extras.py`` tries all of them; with names, these. The last lines are the table of ``docs/install.md``:
packages and megabytes of ``site-packages`` beyond the base, with the versions of ``constraints.txt``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRAIN = """
from morl_recipes import PASTA, train
from morl_envs.toy import toy
result = train(PASTA, toy(), preferences=[[0.5, 0.5]], seeds=[0], total_steps=2048, progress=False)
"""
SAVE = TRAIN + "result.save('runs/one')\n"
MAKE = "from morl_envs import make_batch; make_batch({!r}, 1, 0)"
TRY = {
    "": "from morl_blocks import combine_gradients, scalarizers, schedulers, combiners, critics, preferences, problems",
    "metrics": "from morl_blocks.metrics import compare, hypervolume; assert hypervolume([[1, 1]], [0, 0]) == 1.0\n"
    "compare([[1.0, 2.0]], [[0.0, 0.5]])",
    "rl": "from morl_blocks.ppo import VectorGAE, VectorClipPPOLoss; VectorGAE()\n" + MAKE.format("stealth"),
    "train": TRAIN + "from morl_recipes.cli import main; assert main(['list']) == 0",
    "torchjd": "from torchjd.aggregation import UPGrad; from morl_blocks.combiners import TorchJD\n"
    "import torch; TorchJD(UPGrad())(torch.eye(2))",
    "mujoco": MAKE.format("mo-hopper-v5"),
    "box2d": MAKE.format("mo-lunar-lander-continuous-v3"),
    "ray": "import ray; from morl_recipes.cli import main; assert main(['list']) == 0",
    "report": TRAIN
    + "result.save('runs/one')\nfrom morl_recipes.cli import main; assert main(['report', 'runs/one']) == 0",
    "polars": TRAIN
    + "result.save('runs/one')\nfrom morl_recipes.store import load_runs; load_runs('runs/one', frame='polars')",
    "export": SAVE + "from morl_recipes.running.export import export_policy\n"
    "export_policy('runs/one', 'out.onnx', env=toy())",
    "llm": "from morl_blocks.llm import AttentionGRPO; from trl import GRPOTrainer; assert AttentionGRPO",
}


def run(command: list[str], folder: Path) -> str:
    """Run a command and return what it printed; exit with it if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def megabytes(folder: Path) -> float:
    """Return the size of all files, bytecode left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files) / 1e6


def tried(extra: str) -> tuple[int, float]:
    """Return how many packages an extra installs, the base's included, and their size in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([sys.executable, "-m", "venv", "venv"], folder)
        python = str(folder / "venv/bin/python")
        wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        run([*pip, "install", "--quiet", "--no-compile", "-c", str(ROOT / "constraints.txt"), wanted], folder)
        packages = len(run([*pip, "list", "--format", "freeze"], folder).split()) - 2  # pip and setuptools
        (site,) = folder.glob("venv/lib/python*/site-packages")
        size = megabytes(site) - megabytes(site / "pip") - megabytes(site / "setuptools")
        run([python, "-c", TRY[extra]], folder)
    return packages, size


def main(names: list[str]) -> None:
    """Try the extras and print the table."""
    base = tried("")
    rows = [f"| none | {base[0]} | {base[1]:.0f} |"]
    for name in names or [extra for extra in TRY if extra]:
        packages, size = tried(name)
        rows.append(f"| `{name}` | +{packages - base[0]} | +{size - base[1]:.0f} |")
        print(f"{name}: does what it is for", flush=True)
    print("\n".join(["| extra | packages | MB |", "|---|---|---|", *rows]))


if __name__ == "__main__":
    main(sys.argv[1:])
