"""Loggers by name: TorchRL's own, where their packages are installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock

from morl_recipes.common.naming import unknown
from morl_recipes.running.monitor import Logger

LoggerName = Literal["csv", "tensorboard", "wandb", "mlflow"]
_CLASSES = {"csv": "CSVLogger", "tensorboard": "TensorboardLogger", "wandb": "WandbLogger", "mlflow": "MLFlowLogger"}


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
    """Open one of TorchRL's loggers for one training, and close it.

    Args:
        name: Which one.
        folder: Where it writes; MLflow keeps a database of all trainings there.
        title: Name of the training.
    """
    check_logger(name)
    folder = folder.absolute()
    place: dict[str, Any] = {
        "csv": {"log_dir": str(folder)},
        "tensorboard": {"log_dir": str(folder)},
        "wandb": {"save_dir": str(folder), "project": "morl-blocks"},
        "mlflow": {"tracking_uri": f"sqlite:///{folder / 'mlflow.db'}", "artifact_location": folder.as_uri()},
    }[name]
    folder.mkdir(parents=True, exist_ok=True)
    module = import_module(f"torchrl.record.loggers.{name}")
    with FileLock(folder / ".lock"):  # two workers that set up MLflow's database at once would break it
        logger = getattr(module, _CLASSES[name])(exp_name=title, **place)
    try:
        yield logger
    finally:
        _end(name, logger)


def _end(name: LoggerName, logger: Any) -> None:
    """End a logger's run: W&B and MLflow would write the next training into it."""
    if name == "wandb":
        logger.experiment.finish()
    elif name == "mlflow":
        import_module("mlflow").end_run()
    elif name == "tensorboard":
        logger.experiment.close()
