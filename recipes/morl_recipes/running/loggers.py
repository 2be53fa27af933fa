"""Loggers: their interface, the numbers that they get, and TorchRL's own loggers by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import torch
from filelock import FileLock
from torch import Tensor

from morl_recipes.common.checks import fail
from morl_recipes.common.naming import unknown

LoggerName = Literal["csv", "tensorboard", "wandb", "mlflow"]


class Logger(Protocol):
    """The interface of TorchRL's loggers (CSV, TensorBoard, W&B, MLflow) that the trainer uses."""

    def log_scalar(self, name: str, value: float, step: int) -> None:
        """Log one number."""
        ...


def check_loggers(loggers: Any) -> tuple[Logger, ...]:
    """Require a list of loggers, before the first iteration instead of after it."""
    chosen = tuple(loggers) if isinstance(loggers, Iterable) else (None,)
    if not all(callable(getattr(logger, "log_scalar", None)) for logger in chosen):
        fail("loggers", "be a list of TorchRL loggers, or of anything with log_scalar(name, value, step)", loggers)
    return chosen


def log(loggers: Sequence[Logger], columns: dict[str, Tensor], step: int) -> None:
    """Send every known number to every logger, as ``<column>/run<k>`` and the mean as ``<column>/mean``."""
    for name, column in columns.items() if loggers else ():
        for run, value in enumerate(column.tolist()):
            if value == value:
                for logger in loggers:
                    logger.log_scalar(f"{name}/run{run}", value, step)
        known = column[~column.isnan()]
        for logger in loggers if len(known) else ():
            logger.log_scalar(f"{name}/mean", float(torch.mean(known)), step)


def check_logger(name: str) -> None:
    """Require a known logger whose package can be imported, before anything is trained."""
    if name not in get_args(LoggerName):
        raise unknown("logger", name, get_args(LoggerName))
    if name == "csv":
        return
    try:
        import_module(name)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == name
        told = f"needs the package {name}: pip install {name}" if absent else f"cannot import {name}: {error}"
        raise ImportError(f"The logger {name} {told}.") from error


@contextmanager
def open_logger(name: LoggerName, folder: Path, title: str) -> Iterator[Logger]:
    """Open one of TorchRL's loggers for one training, and close it; MLflow keeps one database of all trainings."""
    check_logger(name)
    folder = folder.absolute()
    database = {"tracking_uri": f"sqlite:///{folder / 'mlflow.db'}", "artifact_location": folder.as_uri()}
    kind, place = {
        "csv": ("CSVLogger", {"log_dir": str(folder)}),
        "tensorboard": ("TensorboardLogger", {"log_dir": str(folder)}),
        "wandb": ("WandbLogger", {"save_dir": str(folder), "project": "morl-blocks"}),
        "mlflow": ("MLFlowLogger", database),
    }[name]
    folder.mkdir(parents=True, exist_ok=True)
    module = import_module(f"torchrl.record.loggers.{name}")
    with FileLock(folder / ".lock"):  # two workers must not create MLflow's database at once
        logger = getattr(module, kind)(exp_name=title, **place)
    try:
        yield logger
    finally:
        if name == "wandb":  # otherwise W&B and MLflow would write the next training into this run
            logger.experiment.finish()
        elif name == "mlflow":
            import_module("mlflow").end_run()
        elif name == "tensorboard":
            logger.experiment.close()
