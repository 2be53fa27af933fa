"""Options that several commands share: their types with help, and how their text is parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import tyro

from morl_recipes.recipe.settings import Settings, help_texts

TRAIN = Settings(total_steps=204_800)
"""Defaults of ``morl-blocks train`` and ``morl-blocks front``."""


def default(text: str, metavar: str | None = None) -> Any:
    """Return the annotation of an option whose default is described by text."""
    return tyro.conf.arg(help_behavior_hint=f"(default: {text})", metavar=metavar)


def _one_of(*choices: str) -> tyro.constructors.PrimitiveConstructorSpec[str | None]:
    """Parse one of the choices of an optional option; tyro's own constructor would offer ``None`` as a choice."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar=f"{{{','.join(choices)}}}",
        instance_from_str=lambda texts: texts[0],
        is_instance=lambda value: value is None or value in choices,
        str_from_instance=lambda value: [str(value)],
        choices=choices,
    )


def _help(text: str, hint: str | None = None, **more: Any) -> Any:
    return tyro.conf.arg(help=text, help_behavior_hint=hint, **more)


Words = tuple[str, ...]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Format = Literal["terminal", "markdown", "csv", "latex"]
Score = Annotated[
    Literal["peak", "test", "final", "test_final"] | None,
    _one_of("peak", "test", "final", "test_final"),
    _help(
        "The score of each run, also for rates and verdicts: its best validation (peak, as in the paper), the same "
        "policy on fresh episodes (test), its last validation (final), or its last policy on fresh episodes "
        "(test_final).",
        "(default: test where all runs have one, else peak)",
    ),
]
LoggerChoice = Annotated[
    Literal["csv", "tensorboard", "wandb", "mlflow"] | None,
    _one_of("csv", "tensorboard", "wandb", "mlflow"),
    _help("Also log all numbers with a TorchRL logger; its files are in the folder's logs.", "(default: none)"),
]
Changes = Annotated[Words, tyro.conf.UseAppendAction, tyro.conf.arg(name="set", help_behavior_hint="(default: none)")]
RetryFailed = Annotated[bool, _help("Train failed runs again.")]
AcceptVersions = Annotated[
    bool, _help("Continue under other versions of PyTorch or of environments than the training was started with.")
]
Quiet = Annotated[bool, _help("Show no progress.")]
RunName = Annotated[
    str | None,
    _help(
        "A method (pasta), a run, or a part of its name; of several runs of a method, the best.",
        "(default: the best)",
        name="run",
        metavar="NAME",
    ),
]
Point = Annotated[Literal["peak", "final"], _help("The policy at the best validation, or the last.")]


def _optional(defaults: Settings) -> type:
    """Return the settings as a dataclass with optional fields, whose help shows the defaults."""
    hints, texts = get_type_hints(Settings), help_texts()
    optional = []
    for name in (field.name for field in fields(Settings)):
        value = getattr(defaults, name)
        hint = f"(default: {value:,})" if type(value) is int else f"(default: {value})"
        words = _help(texts[name], hint, metavar=_metavar(hints[name]))
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
    """Parse numbers separated by commas.

    Example:
        >>> parse_preference("0.1,0.7,0.2")
        (0.1, 0.7, 0.2)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"`{name}` must be numbers such as 0.1,0.7,0.2, got {text!r}.") from None


def sweep_keys(
    settings: object, preferences: Sequence[str], seeds: Sequence[int], num_seeds: int | None, changes: Sequence[str]
) -> dict[str, Any]:
    """Return the keys of a sweep for the options that were given; other options give no key."""
    from morl_recipes.recipe.fields import parse_changes

    keys = given(settings) | seeds_key(seeds, num_seeds)
    keys |= {"preferences": tuple(map(parse_preference, preferences))} if preferences else {}
    return keys | ({"set": parse_changes(changes)} if changes else {})


def seeds_key(seeds: Sequence[int], num_seeds: int | None) -> dict[str, Any]:
    """Return the key of a sweep for a list of seeds or a number of seeds.

    Example:
        >>> seeds_key((), 3), seeds_key((5,), None)
        ({'seeds': 3}, {'seeds': (5,)})
    """
    if num_seeds is None:
        return {"seeds": tuple(seeds)} if seeds else {}
    if seeds:
        raise ValueError(f"`num_seeds` must not be given beside `seeds`, got {num_seeds} and {list(seeds)}.")
    return {"seeds": num_seeds}


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
    """Return the default folder of results; for files, the names in them are used.

    Example:
        >>> default_folder("my_rows.py:MyRow", "worlds/my_env.py:make_env").as_posix()
        'runs/myrow-my_env-make_env'
    """
    env = Path(env.replace(".py:", "-")).name
    return Path("runs") / f"{kind}{folder_name(row.rpartition(':')[2])}-{folder_name(env)}"
