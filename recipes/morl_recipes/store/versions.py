"""The versions that a result depends on, and the commit of the source if it is known."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from morl_envs.cards import known_card

_ROOT = Path(__file__).resolve().parents[3]
DECISIVE = ("morl-blocks", "torch")
"""Packages whose versions may change the numbers of the same run."""
DYNAMICS = ("gymnasium", "mo-gymnasium", "mujoco")
"""Packages that contain the dynamics of external environments: their versions matter as much for these runs."""
_PACKAGES = (*DECISIVE, *DYNAMICS, "torchrl", "tensordict", "numpy", "moocore", "torchjd")


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def package_versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return dict(_installed())


def run_versions() -> dict[str, str]:
    """Return the versions that trained a run: the packages that matter and, in a clone of the source, the commit."""
    found = {name: version for name, version in _installed().items() if name in DECISIVE + DYNAMICS}
    commit = source_commit()
    return found | ({"commit": commit} if commit else {})


@lru_cache(maxsize=1)
def source_commit(root: Path = _ROOT) -> str:
    """Return the commit of the clone that this package runs from, ``-dirty`` if it was edited; empty elsewhere.

    The clone is only read: ``git describe --dirty`` would write its index, and leave a lock if it is killed.
    """
    if not ((root / ".git").exists() and (root / "pyproject.toml").is_file()):
        return ""
    command = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2", "--branch"]
    try:
        found = subprocess.check_output([*command, "-uno"], stderr=subprocess.DEVNULL, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = found.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "")
    return commit + "-dirty" * any(not line.startswith("#") for line in lines) if commit else ""


def dynamics_of(env: str) -> tuple[str, ...]:
    """Name the packages that hold the dynamics of an environment: none for an environment of morl_envs."""
    card = known_card(env)
    return () if card is not None and card.world else DYNAMICS


def other_versions(
    stored: Mapping[str, str], here: Mapping[str, str] | None = None, packages: Sequence[str] = DECISIVE
) -> str:
    """Describe which packages differ from the installed ones; empty when none does or a version is unknown."""
    here = _installed() if here is None else here
    pairs = [(name, stored.get(name), here.get(name)) for name in packages]
    return "; ".join(f"{name} {old}, here {new}" for name, old, new in pairs if None not in (old, new) and old != new)
