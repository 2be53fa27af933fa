"""Install the lowest version of every package that pyproject promises, and run tests there.

They are those of blocks, tables, reports and `list`.

Run ``.ci/lowest.py`` with the Python to try. ``.ci/lowest.py --print`` only prints the versions.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
EXTRAS = ("metrics", "rl", "train", "torchjd", "report", "polars")
TOOLS = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
TESTS = (
    "tests/morl_blocks",
    "tests/morl_recipes/analysis/tables",
    "tests/morl_recipes/cli/test_main.py",
)


def lowest(requirement: str) -> str:
    """Return a requirement with its lower bound alone: ``"torch>=2.13,<2.14"`` becomes ``"torch==2.13"``."""
    found = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?>=([0-9.]+)", requirement)
    if found is None:
        sys.exit(f"pyproject.toml: {requirement!r} has no lower bound.")
    return f"{found.group(1)}=={found.group(2)}"


def versions() -> list[str]:
    """Return the lowest version of each package that the extras tried here bring; of two bounds the higher."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for name in EXTRAS for line in project["optional-dependencies"][name]]
    pinned: dict[str, str] = {}
    for line in [*project["dependencies"], *extras]:
        if not line.startswith("morl-blocks["):
            name, _, version = lowest(line).partition("==")
            pinned[name] = max(version, pinned.get(name, "0"), key=lambda text: [int(part) for part in text.split(".")])
    return [f"{name}=={version}" for name, version in pinned.items()]


def main() -> None:
    """Exit with pip's or pytest's message if the lowest versions do not do."""
    if "--print" in sys.argv:
        print("\n".join(versions()))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lowest.txt").write_text("\n".join(versions()) + "\n")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        python = str(folder / "venv" / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "lowest.txt"]
        subprocess.run([*pip, f"{ROOT}[{','.join(EXTRAS)}]", *TOOLS], cwd=folder, check=True)
        # The tests run outside this folder, so that they import what was installed.
        shutil.copytree(ROOT / "tests", folder / "tests")
        shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("results"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        # An old package beside a new one may be warned that it uses what is deprecated there.
        options = ["-q", "-n", "2", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
        subprocess.run([python, "-m", "pytest", *options, *TESTS], cwd=folder, check=True)
    print(f"The lowest versions do: {', '.join(versions())}")


if __name__ == "__main__":
    main()
