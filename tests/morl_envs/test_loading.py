import math

from morl_envs._loading import load
from tests.refusals import refused


def test_paths_name_a_module_and_something_in_it() -> None:
    assert load("math:tau") == math.tau
    for path in ("math", "math:", ":tau"):
        refused(f"`path` must read module:name, got '{path}'", load, path)
