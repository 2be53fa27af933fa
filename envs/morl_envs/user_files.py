"""Environments in a user's own file: ``my_env.py:make_env``."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium

from morl_envs._names import fail, unknown
from morl_envs.plugin import FileName, Plugin, named_file


def split(name: str) -> FileName | None:
    """Split ``my_env.py:make_env`` into file and name; ``None`` when it is not a file.

    Example:
        >>> split("worlds/my_env.py:make_env")
        FileName(path='worlds/my_env.py', attribute='make_env')
        >>> split("stealth")
    """
    file = named_file(name)
    if file is not None and not file.attribute:
        raise ValueError(f"{file.path}: name a function or class of the file too, as in {file.path}:make_env.")
    return file


def find_plugin(path: str, plugins: Sequence[Plugin], folder: str | Path) -> Plugin:
    """Return a file: one that was sent with a job, found by its name, or else read from the disk.

    path: Path as the user typed it; files that were sent are found by the file's name alone.
        path: As the user typed it; what travelled is found by the file's name alone.
        plugins: Files that were sent with a job.
        folder: Folder that paths are relative to.
    """
    travelled = {plugin.digest: plugin for plugin in plugins if Path(plugin.path).name == Path(path).name}
    if len(travelled) > 1:
        paths = ", ".join(plugin.path for plugin in travelled.values())
        fail("env", "come from the only file of its name", f"{Path(path).name} from {paths}: rename one of them")
    return next(iter(travelled.values())) if travelled else Plugin.read(Path(folder) / path)


def in_file(plugin: Plugin, attribute: str, kinds: tuple[type, ...]) -> Any:
    """Return the object that a name of a file refers to: a function, a class, or an object of the given kinds.

    Example:
        >>> plugin = Plugin("my_env.py", "def make_env(num_envs, seeds): ...")
        >>> in_file(plugin, "make_env", ()).__name__
        'make_env'
    """
    module = plugin.load()
    own = {name: value for name, value in vars(module).items() if callable(value) or isinstance(value, kinds)}
    if attribute not in own:
        known = [name for name in own if not name.startswith("_")]
        raise unknown("env", f"be an environment of {plugin.path}", attribute, known or ("(it defines no function)",))
    return own[attribute]


def opens_batches(name: str, make: Callable[..., Any]) -> bool:
    """Return whether a function takes ``(num_envs, seeds)``; one without arguments makes a Gymnasium environment.

    Example:
        >>> opens_batches("batches", lambda num_envs, seeds: None), opens_batches("single", lambda: None)
        (True, False)
    """
    if isinstance(make, type) and issubclass(make, gymnasium.Env):
        return False
    try:
        parameters = list(inspect.signature(make).parameters.values())
    except (TypeError, ValueError):
        return True
    positional = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    required = [item for item in parameters if item.default is item.empty and item.kind not in _REST]
    if [item.name for item in positional[:2]] == ["num_envs", "seeds"] or len(required) == len(positional[:2]) == 2:
        return True
    if required:
        wanted = ", ".join(item.name for item in required)
        fail("env", "take (num_envs, seeds), or nothing and make one Gymnasium environment", f"{name}({wanted})")
    return any(item.kind is item.VAR_POSITIONAL for item in parameters)


def accepts(make: Callable[..., Any], keyword: str) -> bool:
    """Return whether a function takes a keyword argument."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return False
    return keyword in parameters or any(item.kind is item.VAR_KEYWORD for item in parameters.values())


_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
