"""Which tests need torch, numpy and pytest alone: those are marked ``core``.

A file needs the packages that it imports, itself or through a helper of this folder. A single test that needs more says
so: ``@pytest.mark.needs("moocore")``. Where a package is missing, its files and tests are left out.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BEYOND = {
    "gymnasium",
    "hypothesis",
    "mo_gymnasium",
    "moocore",
    "morl_envs",
    "morl_recipes",
    "scipy",
    "tensordict",
    "torchjd",
    "torchrl",
    "transformers",
    "trl",
}


@cache
def needed(path: Path) -> frozenset[str]:
    """Return the packages beyond the base that a file imports when it is loaded."""
    found = re.findall(r"^(?:from|import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    helpers = [HERE.parents[1] / (name.replace(".", "/") + ".py") for name in found if name.startswith("tests.")]
    return frozenset({name.partition(".")[0] for name in found} & BEYOND).union(
        *(needed(path) for path in helpers if path.is_file())
    )


def absent(package: str) -> bool:
    return find_spec({"morl_envs": "gymnasium", "morl_recipes": "tyro"}.get(package, package)) is None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if collection_path.suffix == ".py" and any(absent(package) for package in needed(collection_path)):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents:
            continue
        wanted = {name for mark in item.iter_markers("needs") for name in mark.args}
        for name in sorted(wanted):
            if absent(name):
                item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))
        if not wanted and needed(item.path) <= {"hypothesis"}:
            item.add_marker("core")
