"""Install the base alone into a clean environment and try it: the packages, the core tests, the docstring examples.

Run ``.ci/base.py`` with the Python to try: torch as ``constraints.txt`` pins it. ``.ci/base.py lowest`` takes the
lowest torch that pyproject promises and ``newest`` the newest there is; both bring CUDA packages, 5 GB on disk.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
FORBIDDEN = {"gymnasium", "matplotlib", "moocore", "pandas", "scipy", "tensordict", "torchrl", "tyro"}


def pins(which: str) -> list[str]:
    """Return what pip is told about versions."""
    if which == "pinned":
        return ["-c", str(ROOT / "constraints.txt")]
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    torch = next(line for line in requirements if line.startswith("torch"))
    return [f"torch=={re.sub('.*>=', '', torch)}"] if which == "lowest" else []


def main(which: str) -> None:
    """Exit with pip's or pytest's message if the base does not do."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        python = str(folder / "venv" / "bin" / "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        install = [*pip, "install", "--quiet", "--no-cache-dir", str(ROOT), *pins(which)]
        if subprocess.run(install).returncode:
            if which == "pinned":
                sys.exit("The base cannot be installed.")
            # Gigabytes from a registry: a download that fails says nothing about this package.
            print(
                f"The base does: not tried on the {which} torch, which could not be installed. See pip's message above."
            )
            return
        listed = subprocess.run([*pip, "list"], check=True, capture_output=True, text=True).stdout
        print(listed)
        brought = FORBIDDEN & set(listed.lower().split())
        if brought:
            sys.exit(f"The base brings {sorted(brought)}.")
        subprocess.run([*pip, "install", "--quiet", "pytest"], check=True)
        # The tests run outside this folder, so that they import what was installed.
        shutil.copytree(ROOT / "tests", folder / "tests")
        shutil.copy(ROOT / "pyproject.toml", folder)
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "core", "tests/morl_blocks"]
        subprocess.run(tests, cwd=folder, check=True)
        subprocess.run([python, str(ROOT / ".ci/core_doctests.py")], cwd=folder, check=True)
    print(f"The base does, {which}: {time.monotonic() - begin:.0f} s.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pinned")
