from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from morl_envs.plugin import Plugin
from morl_envs.user_files import accepts, find_plugin, in_file, opens_batches, split
from tests.refusals import refused


def test_files_are_told_from_names() -> None:
    assert split("a:b") is None
    assert split("morl_envs:morl_envs/CrazyflieFrogger-v0") is None
    assert split("C:/worlds/my_env.py:Maze") == ("C:/worlds/my_env.py", "Maze")
    refused("name a function or class of the file too, as in my_env.py:make_env", split, "my_env.py")


def test_a_file_that_travelled_comes_before_the_disk(tmp_path: Path) -> None:
    (tmp_path / "my_env.py").write_text("WHERE = 'disk'")
    travelled = Plugin("far/away/my_env.py", "WHERE = 'job'")
    assert find_plugin("my_env.py", [travelled], tmp_path) is travelled
    assert find_plugin("my_env.py", [Plugin("other.py", "")], tmp_path).source == "WHERE = 'disk'"
    assert find_plugin("my_env.py", [travelled, travelled], tmp_path) is travelled
    refused("must come from the only", find_plugin, "my_env.py", [travelled, Plugin("here/my_env.py", "")], tmp_path)
    refused("missing.py: cannot be read", find_plugin, "missing.py", [], tmp_path)
    plugin = Plugin("my_env.py", "NUMBER = 3\ndef make_env(): ...")
    refused("environment of my_env.py, got 'make_evn'. Nearest: make_env", in_file, plugin, "make_evn", ())
    refused("an environment of my_env.py, got 'NUMBER'", in_file, plugin, "NUMBER", ())
    assert in_file(plugin, "NUMBER", (int,)) == 3


class Single(gymnasium.Env[Any, Any]):
    def __init__(self, *arguments: Any, **options: Any) -> None: ...


class Opener:
    def __call__(self, count: int, numbers: list[int]) -> None: ...


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda n, s: None, True),
        (lambda num_envs=1, seeds=(0,): None, True),
        (lambda n, s, horizon=3: None, True),
        (lambda *numbers: None, True),
        (Opener(), True),
        (dict, True),
        (lambda: None, False),
        (lambda render_mode=None: None, False),
        (Single, False),
    ],
)
def test_the_signature_tells_what_a_function_makes(make: Callable[..., Any], expected: bool) -> None:
    assert opens_batches("it", make) is expected


def test_other_signatures_are_refused_and_keywords_are_found() -> None:
    others: tuple[Any, ...] = (lambda n: None, lambda n, s, more: None, lambda n, *, seeds: None)
    for make in others:
        refused(r"`env` must take \(num_envs, seeds\), or nothing .*, got it\(n", opens_batches, "it", make)
    assert accepts(lambda render_mode=None: None, "render_mode")
    assert accepts(lambda **options: None, "render_mode")
    assert not accepts(lambda: None, "render_mode")
    assert not accepts(dict, "render_mode")
