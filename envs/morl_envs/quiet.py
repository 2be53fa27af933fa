"""Make environments without the words that a user cannot act on."""

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
    # Box2D warns of its own classes while it is imported; where warnings are errors, that would crash Python.
    "builtin type .* has no __module__ attribute",
    # An id was asked for with its version: published figures belong to one.
    ".*is out of date. You should consider upgrading.*",
)


@contextmanager
def quietly(env: object) -> Iterator[None]:
    """Ignore harmless warnings, and log what MuJoCo says of its models: once each, not once per environment.

    Left to itself, MuJoCo prints to the terminal and appends to a file in the current folder.

    Args:
        env: What is being made: a Gymnasium spec, or anything else.
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
