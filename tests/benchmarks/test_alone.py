import sys

import numpy as np
import pytest

from benchmarks._alone import alone


def _python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_memory_is_the_command_s_own_whatever_this_process_holds() -> None:
    held = np.ones(30_000_000)  # 240 MB
    little, much = alone(_python("pass")), alone(_python("held = bytearray(b'x' * 100_000_000)"))
    assert held[-1] == 1
    assert little.megabytes < 60
    assert 90 < much.megabytes - little.megabytes < 220


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        alone(_python("raise SystemExit(3)"))
