import inspect
from dataclasses import fields
from typing import Any

import pytest

from morl_recipes import Settings, train
from morl_recipes.recipe.settings import NAMES, help_texts
from tests.refusals import refused


def test_train_has_every_setting_with_its_default_and_its_description() -> None:
    assert tuple(help_texts()) == NAMES
    parameters = inspect.signature(train).parameters
    for field in fields(Settings):
        if field.name != "total_steps":
            assert parameters[field.name].default == field.default
        assert f"        {field.name}: " in (train.__doc__ or "")
    assert "changes" not in parameters


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"num_envs": 0}, "`num_envs` must be a whole number >= 1, got 0"),
        ({"test_episodes": -1}, "`test_episodes` must be a whole number >= 0, got -1"),
        ({"eval_deterministic": 1}, "`eval_deterministic` must be true or false, got 1"),
        ({"compile": 1}, "`compile` must be 'auto', true or false, got 1"),
        ({"update": "slow"}, "`update` must be 'auto', 'generic' or 'fast', got 'slow'"),
        ({"device": 3}, "`device` must be a name such as 'cpu' or 'cuda:0', got 3"),
        ({"num_env": 3}, "unknown setting 'num_env'. Nearest: num_envs"),
    ],
)
def test_bad_settings_are_named(given: dict[str, Any], message: str) -> None:
    refused(message, Settings().change, **given)


def test_what_changes_no_number_does_not_decide_a_run() -> None:
    assert Settings(checkpoint_every=3, device="meta").decisive() == Settings().decisive()
    assert Settings(eval_every=3).decisive() != Settings().decisive()
