"""Options that several commands share: their types with help, and how their text is parsed."""

from __future__ import annotations

import re
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import tyro

from morl_recipes.recipe.settings import Settings, help_texts

TRAIN = Settings(total_steps=204_800)
"""Defaults of ``morl-blocks train`` and ``morl-blocks front``."""


def default(text: str, metavar: str | None = None, **more: Any) -> Any:
    """Return the annotation of an option whose default is described by text."""
    return tyro.conf.arg(help_behavior_hint=f"(default: {text})", metavar=metavar, **more)


Words = tuple[str, ...]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Format = Literal["terminal", "markdown", "csv", "latex"]
Score = Annotated[
    Literal["peak", "test", "final", "test_final"] | None,
    default(
        "test where all runs have one, else peak",
        "{peak,test,final,test_final}",
        constructor=str,  # results check the word; tyro's own constructor would offer `None` as a choice
        help="The score of each run, also for rates and verdicts: its best validation (peak, as in the paper), the "
        "same policy on fresh episodes (test), its last validation (final), or its last policy on fresh episodes "
        "(test_final).",
    ),
]
RunName = Annotated[
    str | None,
    default(
        "the best",
        "NAME",
        name="run",
        help="A method (pasta), a run, or a part of its name; of several runs of a method, the best.",
    ),
]
Point = Annotated[Literal["peak", "final"], tyro.conf.arg(help="The policy at the best validation, or the last.")]


def _optional(defaults: Settings) -> type:
    """Return the settings as a dataclass with optional fields, whose help shows the defaults."""
    hints, texts = get_type_hints(Settings), help_texts()
    optional = []
    for name in (field.name for field in fields(Settings)):
        value = getattr(defaults, name)
        words = default(f"{value:,}" if type(value) is int else value, _metavar(hints[name]), help=texts[name])
        optional.append((name, Annotated[hints[name] | None, words], None))
    return make_dataclass("Settings", optional, frozen=True)


def _metavar(hint: Any) -> str:
    """Return the text that the help shows for a value: its type, or the choices."""
    if hint in (int, str):
        return str(hint.__name__).upper()
    parts = get_args(hint) or (hint,)
    words = [word for part in parts for word in ((True, False) if part is bool else get_args(part) or (part,))]
    return f"{{{','.join(map(str, words))}}}"


if TYPE_CHECKING:
    SweepFlags = Settings
    TrainFlags = Settings
    FrontFlags = Settings
else:
    SweepFlags, TrainFlags = _optional(Settings()), _optional(TRAIN)
    FrontFlags = _optional(TRAIN.change(test_episodes=0))


def given(settings: object) -> dict[str, Any]:
    """Return the settings that were given, by name."""
    return {name: value for name, value in vars(settings).items() if value is not None}


def parse_preference(text: str, name: str = "preferences") -> tuple[float, ...]:
    """Parse numbers separated by commas, such as ``0.1,0.7,0.2``."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"`{name}` must be numbers such as 0.1,0.7,0.2, got {text!r}.") from None


def require_no_dataset(folder: Path | None) -> None:
    """Raise if the name of a published table was given instead of a folder of results."""
    if folder is None or folder.exists():
        return
    from morl_recipes.analysis.datasets import names

    if str(folder) in names():
        raise ValueError(
            f"`folder` must be a folder of results, got {folder}, a published table. It has no histories and no "
            f"policies; print it with morl-blocks table --results {folder}."
        )


def folder_name(text: str) -> str:
    """Return text as the name of a folder."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-")


def default_folder(row: str, env: str, kind: str = "") -> Path:
    """Return the default folder of results, such as ``runs/myrow-my_env-make_env`` for names in files."""
    env = Path(env.replace(".py:", "-")).name
    return Path("runs") / f"{kind}{folder_name(row.rpartition(':')[2])}-{folder_name(env)}"
