"""Write how much each extra brings into ``docs/install.md``: ``python docs/extra_sizes.py``.

Counts the packages that are installed here, so the extras must be: ``pip install -c constraints.txt -e '.[dev]'``. What
is not installed (another Python's packages, ``llm``) is named, not counted.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parent / "install.md"
EXTRAS = ("metrics", "rl", "train", "mujoco", "box2d", "torchjd", "report", "polars", "export", "ray", "all", "dev")
BEGIN, END = "<!-- begin: made by python docs/extra_sizes.py -->\n", "<!-- end -->\n"


def closure(name: str, extras: frozenset[str], seen: dict[str, frozenset[str]]) -> None:
    """Collect the installed packages that a package with these extras needs, itself included."""
    name = canonicalize_name(name)
    if extras | seen.get(name, frozenset()) == seen.get(name):
        return
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    seen[name] = extras | seen.get(name, frozenset())
    for line in found.requires or ():
        requirement = Requirement(line)
        wanted = [{"extra": extra} for extra in (*seen[name], "")]
        if requirement.marker is None or any(requirement.marker.evaluate(choice) for choice in wanted):
            closure(requirement.name, frozenset(requirement.extras), seen)


def megabytes(name: str) -> float:
    """Return the size of a package's files, bytecode left out."""
    files = [file for file in distribution(name).files or () if file.suffix != ".pyc"]
    return sum(Path(str(file.locate())).stat().st_size for file in files if Path(str(file.locate())).is_file()) / 1e6


def asked(extra: str) -> list[Requirement]:
    """Return what pyproject.toml lists for an extra, or for the base (an empty name)."""
    project = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text())["project"]
    lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
    found = [Requirement(line) for line in lines]
    inner = [part for line in found if line.name == "morl-blocks" for name in line.extras for part in asked(name)]
    return [line for line in found if line.name != "morl-blocks"] + inner


def packages(extra: str = "") -> set[str]:
    """Return the packages that the base or an extra brings."""
    seen: dict[str, frozenset[str]] = {}
    for requirement in asked(extra):
        if requirement.marker is None or requirement.marker.evaluate():
            closure(requirement.name, frozenset(requirement.extras), seen)
    return set(seen)


def table() -> str:
    """Return the table in Markdown."""
    base = packages()
    rows = [f"| none | {len(base)} | {sum(map(megabytes, base)):.0f} |"]
    for extra in EXTRAS:
        more = packages(extra) - base
        rows.append(f"| `{extra}` | +{len(more)} | +{sum(map(megabytes, more)):.0f} |")
    return "\n".join(["| extra | packages | MB |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    text = PAGE.read_text()
    PAGE.write_text(re.sub(f"(?<={BEGIN}).*?(?={END})", "\n" + table() + "\n", text, flags=re.DOTALL))
    print(table())
