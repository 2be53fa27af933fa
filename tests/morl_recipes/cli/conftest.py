"""One tiny trained store for all commands that read one."""

from pathlib import Path

import pytest

from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from tests.morl_recipes.running.fakes import tiny_plan


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with eight finished runs on a discrete environment. Tests must not write to it."""
    folder = tmp_path_factory.mktemp("trained") / "s"
    run_sweep(tiny_plan(), folder, InlineEngine(), progress=False)
    return folder
