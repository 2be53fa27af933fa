"""A script of version 0.2 finds every name that it imported from the blocks, the environments and `morl_recipes`."""

import json
from importlib import import_module
from pathlib import Path

import pytest

NAMES: dict[str, list[str]] = json.loads((Path(__file__).parent / "public_names_0_2.json").read_text())


@pytest.mark.parametrize("package", NAMES)
def test_the_names_of_0_2_are_there(package: str) -> None:
    module = import_module(package)
    assert not [name for name in NAMES[package] if getattr(module, name, None) is None]
