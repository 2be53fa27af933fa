"""Write requirements.lock: every package that the tests ran with, with the SHA-256 of the very file.

pip is asked what it installs here for the extras dev and llm under constraints.txt. Nothing is installed. Run it in the
environment of the tests, after constraints.txt changed: ``.venv/bin/python .ci/lock.py``. With ``--check``, nothing is
written, and a lock that pip would not write again is an error.
"""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK, PINS = ROOT / "requirements.lock", ROOT / "constraints.txt"
HEAD = """# What the tests ran with: {where}. Made by .ci/lock.py from constraints.txt.
# pip install --require-hashes -r requirements.lock && pip install --no-deps --no-build-isolation -e .
# torch is the build for processors alone; SECURITY.md says where pip finds it.
"""


def asked() -> list[dict[str, Any]]:
    """Return what pip would install."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--dry-run"]
    command += ["--ignore-installed", "--report", "-", "-c", str(PINS), f"{ROOT}[dev,llm]"]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [one for one in json.loads(found)["install"] if one["metadata"]["name"] != "morl-blocks"]


def plain(name: str) -> str:
    """Return a package's name as all spellings of it are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """Return the version of each package in constraints.txt."""
    found = re.findall(r"^([\w.-]+)==(\S+)", PINS.read_text(), re.MULTILINE)
    return {plain(name): version for name, version in found}


def lock(packages: list[dict[str, Any]]) -> str:
    """Return the lock's text; a package without a pin, or with another version than its pin, is an error."""
    pinned, lines, other = pins(), [], []
    for one in sorted(packages, key=lambda one: plain(one["metadata"]["name"])):
        name, version = plain(one["metadata"]["name"]), one["metadata"]["version"]
        if pinned.get(name) != version.partition("+")[0]:
            other.append(f"constraints.txt must pin {name}=={version}, got {pinned.get(name, 'no pin')}.")
        lines.append(f"{name}=={version} --hash=sha256:{one['download_info']['archive_info']['hashes']['sha256']}\n")
    if other:
        sys.exit("\n".join(other))
    where = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return HEAD.format(where=where) + "".join(lines)


def main() -> None:
    """Write the lock, or compare it."""
    text = lock(asked())
    if "--check" not in sys.argv[1:]:
        LOCK.write_text(text)
        print(f"{LOCK.name}: {text.count('--hash')} packages")
    elif LOCK.read_text() != text:
        sys.exit(f"{LOCK.name} must be what pip installs now: run .ci/lock.py.")


if __name__ == "__main__":
    main()
