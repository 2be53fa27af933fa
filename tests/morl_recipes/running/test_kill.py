"""Kill a sweep at random moments: nothing lost, nothing run twice, the same numbers to the last bit."""

import json
import random
import time
from pathlib import Path

import pytest

from morl_recipes.analysis.tables.render import render_table
from morl_recipes.cli import main
from tests.morl_recipes.running.fakes import TINY, contents, start_driver

KILLS = 5
FORK = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def definition(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    keys = {**TINY, "total_steps": 64 * 16, "population": 2}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if key != "ppo"]
    path.write_text("\n".join([*lines, "[ppo]", *(f"{key} = {value}" for key, value in TINY["ppo"].items())]))
    return path


def identities(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (folder / "runs").iterdir()} if folder.exists() else {}


@FORK
def test_sweep_survives_five_kills(tmp_path: Path) -> None:
    sweep = ["sweep", str(definition(tmp_path)), "--workers", "2", "--quiet", "--out"]
    assert main([*sweep, str(tmp_path / "warm")]) == 0  # starts the server that workers are forked from
    started = time.monotonic()
    assert main([*sweep, str(tmp_path / "whole")]) == 0
    duration = time.monotonic() - started

    broken, generator, hits = tmp_path / "broken", random.Random(0), 0
    for _ in range(KILLS):
        process = start_driver(main, [*sweep, str(broken)])
        process.join(generator.uniform(0.05, 0.2) * duration)
        before = identities(broken)
        process.kill()
        process.join()
        hits += process.exitcode == -9
        assert before.items() <= identities(broken).items()
    assert hits >= 4, "the sweep ended before it could be killed"
    kept = identities(broken)
    assert main([*sweep, str(broken)]) == 0
    assert kept.items() <= identities(broken).items()  # a run that was there was not written again

    assert contents(broken / "runs") == contents(tmp_path / "whole" / "runs")
    assert render_table(broken, format="csv") == render_table(tmp_path / "whole", format="csv")
    assert not (broken / "checkpoints").exists()
    assert main([*sweep, str(broken)]) == 0
