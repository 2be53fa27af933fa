"""Which floor of ``morl_recipes`` imports which: arrows point downwards only, and every folder says what it knows."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import morl_recipes

ROOT = Path(morl_recipes.__file__).parent
BELOW = {
    "common": set[str](),
    "recipe": {"common"},
    "learning": {"common", "recipe"},
    "evaluation": {"common", "recipe", "learning"},
    "store": {"common", "recipe"},
    "analysis": {"common", "recipe", "store"},
    "running": {"common", "recipe", "learning", "evaluation", "store"},
}
POLICY_NETWORK = {"lift", "networks", "observations"}
"""Modules of learning that evaluation may know."""


def imports(folder: str) -> Iterator[tuple[str, str]]:
    """Yield, for every import of a floor, the file and the module below ``morl_recipes``, wherever it stands."""
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            names = [f"{node.module}.{name}" for name in names] if isinstance(node, ast.ImportFrom) else names
            for name in names:
                if name.startswith("morl_recipes."):
                    yield str(path.relative_to(ROOT)), name.removeprefix("morl_recipes.")


@pytest.mark.parametrize("folder", BELOW)
def test_floor_imports_only_floors_below_it(folder: str) -> None:
    allowed = BELOW[folder] | {folder}
    public = set(morl_recipes.__all__)  # names of the package itself: no floor may take the way through the top
    wrong = {pair for pair in imports(folder) if pair[1].split(".")[0] not in allowed or pair[1] in public}
    assert not wrong


def test_evaluation_knows_of_learning_the_policy_network_alone() -> None:
    assert {name.split(".")[1] for _, name in imports("evaluation") if name.startswith("learning.")} <= POLICY_NETWORK
