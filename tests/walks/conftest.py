"""A clean environment with the wheel in it: what a user has after ``pip install``, and nothing of this folder."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
Command = Callable[..., str]


def _call(command: Sequence[str | Path], **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, capture_output=True, **options)  # type: ignore[call-overload]


def _install(folder: Path) -> None:
    """Build the wheel and install it into a new environment that borrows the other packages of this one."""
    _call([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ROOT])
    _call([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    (wheel,) = (folder / "dist").glob("*.whl")
    _call([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel])
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    # A plain line of a .pth file brings packages, but does not follow the editable install among them.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of a clean environment; all test processes share one."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder = shared / "clean"
    with FileLock(shared / "clean.lock"):
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(folder)
            (folder / "ready").touch()
    return folder / "venv" / "bin"


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Command:
    """Return a function that runs a program of the clean environment in an empty folder and returns what it printed."""

    def run_it(program: str, *arguments: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        done = subprocess.run(
            [str(environment / program), *arguments],
            cwd=tmp_path,
            env=kept | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run_it


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies an example into the empty folder, as a user would write it."""
    return lambda name: Path(shutil.copy(EXAMPLES / name, tmp_path))
