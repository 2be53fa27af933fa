"""Make environments without warnings that a user can do nothing about."""

import importlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

_LOG = logging.getLogger("morl_envs")

HARMLESS = (
    # Some environments build their spaces in double precision.
    ".*precision lowered by casting.*",
    # Box2D emits warnings about its own classes during import; where warnings are errors, that would crash Python.
    "builtin type .* has no __module__ attribute",
    # An id was requested with its version, because published results belong to that version.
    ".*is out of date. You should consider upgrading.*",
)


@contextmanager
def quietly(env: object) -> Iterator[None]:
    """Ignore harmless warnings, and log MuJoCo's messages about its models: each once, not once per environment.

    By default MuJoCo prints to the terminal and appends to a file in the current folder.

    Args:
        env: The environment that is being made: a Gymnasium spec, or anything else.
    """
    with warnings.catch_warnings(), _mujoco_logged(env):
        for message in HARMLESS:
            warnings.filterwarnings("ignore", message=message)
        yield


@contextmanager
def _mujoco_logged(env: object) -> Iterator[None]:
    wanted = "mujoco" in str(getattr(env, "entry_point", "")) or "mujoco" in sys.modules
    if not wanted or find_spec("mujoco") is None:
        yield
        return
    mujoco = importlib.import_module("mujoco")
    before, said = mujoco.get_mju_user_warning(), dict[str, None]()
    mujoco.set_mju_user_warning(lambda text: said.setdefault(text))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
        for text in said:
            _LOG.info("MuJoCo: %s", text)
