"""What a command takes by itself: processor time and the most memory it ever held."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

# The system counts a child's memory from before its program is loaded, when it still is a copy of its parent. So a
# parent that holds a lot must not start it: a bare interpreter does.
MEASURE = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
UNIT = 1024 if sys.platform == "linux" else 1  # bytes of what the system calls the largest memory


class Usage(NamedTuple):
    """Seconds of the processor and megabytes at most."""

    seconds: float
    megabytes: float


def alone(command: Sequence[str]) -> Usage:
    """Run a command, without its output, and return what it took; imports count."""
    bare = [sys.executable, "-I", "-S", "-c", MEASURE, *command]
    code, seconds, largest = json.loads(subprocess.run(bare, capture_output=True, text=True, check=True).stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} ended with {code}")
    return Usage(seconds, largest * UNIT / 2**20)
