"""What the commands share: reading what people type, and saying what became of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal

if TYPE_CHECKING:
    from morl_recipes.running.execute import Outcome
    from morl_recipes.running.loggers import LoggerName

SHOWN_FAILURES = 10
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Format = Literal["terminal", "markdown", "csv", "latex"]


def _one_of(*choices: str) -> tyro.constructors.PrimitiveConstructorSpec[str | None]:
    """Read one of some words, for an option that may be left out; tyro's own would offer ``None`` as a word."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar=f"{{{','.join(choices)}}}",
        instance_from_str=lambda texts: texts[0],
        is_instance=lambda value: value is None or value in choices,
        str_from_instance=lambda value: [str(value)],
        choices=choices,
    )


Score = Annotated[
    Literal["peak", "test", "final", "test_final"] | None,
    _one_of("peak", "test", "final", "test_final"),
    tyro.conf.arg(
        help="What counts of each run, also for rates and verdicts: its best validation (peak, as in the paper), the "
        "same policy on fresh episodes (test), its last validation (final), or its last policy on fresh episodes "
        "(test_final).",
        help_behavior_hint="(default: test where all runs have one, else peak)",
    ),
]
LoggerChoice = Annotated[
    Literal["csv", "tensorboard", "wandb", "mlflow"] | None,
    _one_of("csv", "tensorboard", "wandb", "mlflow"),
    tyro.conf.arg(help_behavior_hint="(default: none)"),
]
Changes = Annotated[
    tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(name="set", help_behavior_hint="(default: none)")
]


def require_no_table(folder: Path | None) -> None:
    """Refuse the name of a published table where a folder of results is asked for."""
    if folder is None or folder.exists():
        return
    from morl_recipes.analysis.datasets.dataset import names

    if str(folder) in names():
        raise ValueError(
            f"`folder` must be a folder of results, got {folder}, a published table. It has no histories and no "
            f"policies; print it with morl-blocks table --results {folder}."
        )


def parse_preference(text: str, name: str = "preferences") -> tuple[float, ...]:
    """Read numbers with commas between them.

    Example:
        >>> parse_preference("0.1,0.7,0.2")
        (0.1, 0.7, 0.2)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"`{name}` must be numbers such as 0.1,0.7,0.2, got {text!r}.") from None


def preferences_key(texts: Sequence[str]) -> dict[str, Any]:
    """Return the key of a sweep for the preferences that were typed, if any were."""
    return {"preferences": tuple(parse_preference(text) for text in texts)} if texts else {}


def seeds_key(seeds: Sequence[int], num_seeds: int | None) -> dict[str, Any]:
    """Return the key of a sweep for a list of seeds or a number of them, if either was typed.

    Example:
        >>> seeds_key((), 3), seeds_key((5,), None)
        ({'seeds': 3}, {'seeds': (5,)})
    """
    if num_seeds is None:
        return {"seeds": tuple(seeds)} if seeds else {}
    if seeds:
        raise ValueError(f"`num_seeds` must not be given beside `seeds`, got {num_seeds} and {list(seeds)}.")
    return {"seeds": num_seeds}


def set_key(texts: Sequence[str]) -> dict[str, Any]:
    """Return the key of a sweep for the changes of recipes that were typed, if any were."""
    from morl_recipes.recipe.fields import parse_changes

    return {"set": parse_changes(texts)} if texts else {}


def work_with(logger: LoggerName | None, out: Path, *, accept_versions: bool) -> dict[str, Any]:
    """Return the option of ``run_sweep`` for a logger beside the results, if one was chosen."""
    if logger is None:
        return {}
    from morl_recipes.running.job import train_job
    from morl_recipes.running.loggers import check_logger, open_logger

    check_logger(logger)
    log = partial(open_logger, logger, out / "logs")
    return {"work": partial(train_job, accept_versions=accept_versions, log=log)}


def slug(name: str) -> str:
    """Turn a name into one for a folder."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-")


def default_folder(row: str, env: str, kind: str = "") -> Path:
    """Return where results go unless the user says otherwise; of files, the names in them count.

    Example:
        >>> default_folder("my_rows.py:MyRow", "worlds/my_env.py:make_env").as_posix()
        'runs/myrow-my_env-make_env'
    """
    return Path("runs") / f"{kind}{slug(row.rpartition(':')[2])}-{slug(Path(env.replace('.py:', '-')).name)}"


def typed(argv: list[str]) -> str:
    """Return the command as the user typed it."""
    return shlex.join(["morl-blocks", *argv])


def finish(outcome: Outcome) -> int:
    """Say what happened and where to go next."""
    planned, failed = len(outcome.store.manifest.runs), outcome.failed
    ran, lost = len(outcome.ran), len(set(outcome.ran) & set(failed))
    if not ran and not outcome.lost:
        print(f"Nothing to do: {outcome.done} of {count(planned, 'run')} done already.")
    elif lost:
        print(f"{count(ran, 'run')} attempted, {lost} failed; {outcome.done} of {planned} done.")
    else:
        print(f"{count(ran, 'run')} trained; {outcome.done} of {planned} done.")
    for run_id, reason in list(failed.items())[:SHOWN_FAILURES]:
        print(f"  failed: {run_id}: {for_terminal(reason)}")
    if failed:
        more = f" ({len(failed) - SHOWN_FAILURES} more are not shown)" if len(failed) > SHOWN_FAILURES else ""
        print(f"{count(len(failed), 'run')} failed{more}. To train again, add --retry-failed")
    if outcome.lost:
        reasons = "; ".join(sorted(set(outcome.lost.values()))[:3])
        print(f"{count(len(outcome.lost), 'run')} lost, not failed ({reasons}). The same command trains them.")
    if outcome.done:
        print(f"Results: {outcome.store.path}   Next: morl-blocks table {shlex.quote(str(outcome.store.path))}")
    return 1 if failed or outcome.lost else 0
