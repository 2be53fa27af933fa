"""The map of the source names files that exist, and the picture is made from the real imports."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
FILES = sorted(set(re.findall(r"`((?:recipes|envs|morl_blocks|docs|benchmarks)/[\w/.]+)`", PAGE)))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_architecture", ROOT / "docs" / "make_architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_named_files_exist_and_the_page_is_linked() -> None:
    assert [name for name in FILES if not (ROOT / name).exists()] == []
    for page in ("docs/index.md", "README.md", "CONTRIBUTING.md"):
        assert "architecture.md" in (ROOT / page).read_text(), page


def test_every_folder_of_the_harness_is_on_the_page_and_in_the_picture(script: ModuleType) -> None:
    harness = ROOT / "recipes" / "morl_recipes"
    folders = {path.parent.name for path in harness.glob("*/__init__.py")}
    assert folders == {name for name in script.OWNS if not name.startswith("morl_")}
    assert all(f"`recipes/morl_recipes/{name}/`" in PAGE for name in folders)
    assert script.PLACES.keys() == script.OWNS.keys()


def test_imports_are_counted_and_go_down(script: ModuleType) -> None:
    edges = script.imports()
    assert edges["cli", "analysis"] > 0
    assert edges["learning", "morl_blocks"] > 0
    assert script.upward(edges) == []
    few = Counter({("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 3, ("a", "d"): 4})  # a to c follows from the others
    assert script.reduced(few) == Counter({("a", "b"): 1, ("b", "c"): 2, ("a", "d"): 4})
