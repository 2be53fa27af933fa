from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from examples import demo
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.engines.inline import InlineEngine

TINY = {"steps_per_iteration": 64, "minibatch_size": 32, "epochs": 1, "hidden": 8}


def test_the_demo_ends_with_a_table_a_picture_and_the_next_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "LocalEngine", InlineEngine)
    monkeypatch.setattr("shutil.which", lambda name: None)
    settings = Settings(total_steps=64, num_envs=2, eval_episodes=1)
    preferences = demo.SWEEP.preferences and demo.SWEEP.preferences[:1]
    sweep = replace(demo.SWEEP, preferences=preferences, seeds=(0,), settings=settings, ppo=TINY)
    assert demo.main(tmp_path / "d", sweep) == 0
    out = capsys.readouterr().out
    assert "PASTA (Ours)" in out
    assert "Where to go next\n  source .venv/bin/activate" in out
    with Image.open(tmp_path / "d" / "demo.png") as picture:
        assert picture.size[0] > 1000
