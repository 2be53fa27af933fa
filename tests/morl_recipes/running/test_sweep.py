from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from morl_recipes import PASTA
from morl_recipes.recipe.settings import PAPER_STEPS, Settings
from morl_recipes.recipe.specs import Sum
from morl_recipes.running.sweep import Sweep, read_sweep, sweep_from
from tests.refusals import refused


def test_arguments_replace_keys_of_a_sweep_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'rows = ["PASTA", "critic"]\nseeds = 3\ntotal_steps = 4_096\npreferences = [[0.2, 0.8]]\n[ppo]\nepochs = 2\n'
    )
    sweep = read_sweep(path, total_steps=2048)
    assert sweep.rows == ("PASTA", "critic")
    assert sweep.seeds == (0, 1, 2)
    assert sweep.preferences == ((0.2, 0.8),)
    assert sweep.settings.total_steps == 2048
    assert sweep.adapt(PASTA).ppo.epochs == 2
    assert sweep.adapt(PASTA).differences(PASTA) == ("ppo",)


def test_paths_of_a_sweep_file_are_relative_to_it_and_those_of_arguments_to_the_current_folder(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('rows = ["PASTA", "my_rows.py:Mine", "more.py"]\nenvs = "my_env.py:make_env"')
    sweep = read_sweep(path)
    assert sweep.rows == ("PASTA", f"{tmp_path / 'my_rows.py'}:Mine", str(tmp_path / "more.py"))
    assert sweep.envs == (f"{tmp_path / 'my_env.py'}:make_env",)
    assert read_sweep(path, rows=("my_rows.py:Mine",)).rows == ("my_rows.py:Mine",)


def test_every_setting_is_a_key(tmp_path: Path) -> None:
    changed = Settings(1, 2, 3, 4, eval_deterministic=False, test_episodes=5, checkpoint_every=6, compile=True)
    keys = asdict(replace(changed, update="generic", device="meta"))
    assert asdict(sweep_from({"rows": "PASTA", **keys}).settings) == keys
    assert all(value != getattr(Settings(), name) for name, value in keys.items())


def test_shipped_sweeps_are_found_by_name_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_sweep("smoke").settings.total_steps == 4096
    refused(r"unknown sweep 'smok'. Nearest: smoke", read_sweep, "smok")
    Path("smoke").write_text('rows = "PASTA"')  # a file of the user's own comes first
    assert read_sweep("smoke").rows == ("PASTA",)


def test_any_part_of_the_recipes_can_be_set() -> None:
    sweep = sweep_from({"rows": "PASTA", "set": {"mu.base.start": 5, "combiner": "Sum"}, "ppo": {"epochs": 2}})
    changed = sweep.adapt(PASTA)
    assert changed.differences(PASTA) == ("mu", "combiner", "ppo")
    assert changed.combiner == Sum()
    refused("`set` must be a table of names and values, got 3", sweep_from, {"rows": "PASTA", "set": 3})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "`rows` must be given"),
        ({"rows": []}, "`rows` must be a list of names"),
        ({"rows": ["PASTA"], "sedes": 3}, "unknown key 'sedes'. Nearest: seeds"),
        ({"rows": ["PASTA"], "seeds": 0}, "`seeds` must be a whole number >= 1"),
        ({"rows": ["PASTA"], "seeds": 300_000}, "`seeds` must be a number of seeds, 10,000 at most, .* got 300,000"),
        ({"rows": ["PASTA"], "seeds": [-1]}, "`seeds` must be a whole number >= 0"),
        ({"rows": ["PASTA"], "preferences": [[0.5, 0.4]]}, "`preferences` must sum to 1"),
        ({"rows": ["PASTA"], "preferences": [0.5, 0.5]}, "`preferences` must be a list of lists of numbers"),
        ({"rows": ["PASTA"], "preferences": [["0.5", "0.5"]]}, "`preferences` must be a list of lists of numbers"),
        ({"rows": ["PASTA"], "ppo": {"learning_rate": "3e-4"}}, "`learning_rate` must be a number, got '3e-4'"),
        ({"rows": ["PASTA"], "ppo": 3}, "`ppo` must be a table of names and values, got 3"),
        ({"rows": ["PASTA"], "preferences": []}, "`preferences` must hold at least one"),
        ({"rows": ["PASTA"], "population": 0}, "`population` must be a whole number >= 1"),
        ({"rows": ["PASTA"], "ppo": {"epoch": 3}}, r"unknown number of \[ppo\] 'epoch'. Nearest: epochs"),
    ],
)
def test_bad_definitions_are_refused(content: dict[str, Any], message: str) -> None:
    refused(message, sweep_from, content)


def test_errors_of_a_file_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    refused(r"s.toml: cannot be read \(No such file", read_sweep, path)
    path.write_text("rows = [")
    refused(r"s.toml: ", read_sweep, path)
    path.write_text('rows = ["PASTA"]\nsteps = 3')
    refused(r"s.toml: unknown key 'steps'", read_sweep, path)


def test_default_sweep_is_that_of_the_paper() -> None:
    sweep = Sweep(rows=("PASTA",))
    assert sweep.envs == ("stealth",)
    assert sweep.preferences is None
    assert len(sweep.seeds) == 5
    assert sweep.settings.total_steps == PAPER_STEPS == 999_424
