import math

import pytest

from morl_envs._loading import load


def test_paths_name_a_module_and_something_in_it() -> None:
    assert load("math:tau") == math.tau
    for path in ("math", "math:", ":tau"):
        with pytest.raises(ValueError, match=f"`path` must read module:name, got '{path}'"):
            load(path)
