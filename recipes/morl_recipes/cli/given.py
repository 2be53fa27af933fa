"""Settings as flags: those that are not given keep what a file, or the command, says."""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import tyro

from morl_recipes.recipe.settings import Settings, help_texts

TRAIN = Settings(total_steps=204_800)
"""What ``morl-blocks train`` does unless told otherwise."""


def _optional(defaults: Settings) -> type:
    """Return a twin of the settings in which every field may be left out; its help states the default."""
    hints, texts = get_type_hints(Settings), help_texts()
    twins = []
    for name in (field.name for field in fields(Settings)):
        value = getattr(defaults, name)
        hint = f"(default: {value:,})" if type(value) is int else f"(default: {value})"
        words = tyro.conf.arg(help=texts[name], help_behavior_hint=hint, metavar=_metavar(hints[name]))
        twins.append((name, Annotated[hints[name] | None, words], None))
    return make_dataclass("Settings", twins, frozen=True)


def _metavar(hint: Any) -> str:
    """Say what a setting takes: a kind of value, or the choices."""
    if hint in (int, str):
        return str(hint.__name__).upper()
    parts = get_args(hint) or (hint,)
    words = [word for part in parts for word in ((True, False) if part is bool else get_args(part) or (part,))]
    return f"{{{','.join(map(str, words))}}}"


def given(settings: object) -> dict[str, Any]:
    """Return the settings that were given, by name."""
    return {name: value for name, value in vars(settings).items() if value is not None}


if TYPE_CHECKING:
    SweepFlags = Settings
    TrainFlags = Settings
    FrontFlags = Settings
else:
    SweepFlags, TrainFlags = _optional(Settings()), _optional(TRAIN)
    FrontFlags = _optional(TRAIN.change(test_episodes=0))
