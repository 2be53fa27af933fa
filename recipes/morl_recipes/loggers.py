"""Loggers by name: TorchRL's own, where their packages are installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

from morl_recipes.naming import unknown
from morl_recipes.watching import Logger

LoggerName = Literal["csv", "tensorboard", "wandb", "mlflow"]
_CLASSES = {"csv": "CSVLogger", "tensorboard": "TensorboardLogger", "wandb": "WandbLogger", "mlflow": "MLFlowLogger"}


def check_logger(name: str) -> None:
    """Require a known logger whose package is installed, before anything is trained."""
    if name not in get_args(LoggerName):
        raise unknown("logger", name, get_args(LoggerName))
    if name != "csv" and find_spec(name) is None:
        raise ImportError(f"The logger {name} needs the package {name}: pip install {name}.")


def open_logger(name: LoggerName, folder: Path, title: str) -> Logger:
    """Open one of TorchRL's loggers.

    Args:
        name: Which one.
        folder: Where it writes; MLflow keeps a database of runs there.
        title: Name of the training.
    """
    check_logger(name)
    place: dict[str, Any] = {
        "csv": {"log_dir": str(folder)},
        "tensorboard": {"log_dir": str(folder)},
        "wandb": {"save_dir": str(folder), "project": "morl-blocks"},
        "mlflow": {"tracking_uri": folder.absolute().as_uri()},
    }[name]
    folder.mkdir(parents=True, exist_ok=True)
    module = import_module(f"torchrl.record.loggers.{name}")
    logger: Logger = getattr(module, _CLASSES[name])(exp_name=title, **place)
    return logger
