"""Ctrl-C, SIGTERM and a full disk: a sentence, an exit code, no traceback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from morl_recipes.cli.signals import Terminated, forward_sigterm

SWEEP = ["--rows", "PASTA", "--envs", "deep-sea-treasure-v0", "--seeds", "0", "--workers", "1"]
SWEEP += ["--total-steps", "10000000"]


def start(*argv: str, out: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "morl_recipes", *argv]
    made = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, preexec_fn=_listen)
    time.sleep(0.6)  # Python itself must have started: before that nobody can listen
    return made


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_everything_is_still_being_imported(tmp_path: Path, number: int, code: int) -> None:
    process = start("sweep", *SWEEP, "--out", str(tmp_path / "s"))
    time.sleep(1.0)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert err.count("morl-blocks: ") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_workers_train(tmp_path: Path, number: int, code: int) -> None:
    process = start("sweep", *SWEEP, "--out", str(tmp_path / "s"))
    end = time.monotonic() + 120
    while not list(tmp_path.glob("s/checkpoints/*/history.csv")) and time.monotonic() < end:
        time.sleep(0.1)
    asked = time.monotonic()
    process.send_signal(number)
    assert process.stderr is not None
    sentence = process.stderr.readline()
    assert time.monotonic() - asked < 5
    assert "The same command continues where it stopped." in sentence
    _, rest = process.communicate(timeout=60)
    assert (process.returncode, rest) == (code, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_output(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        process = start("list", out=full.fileno())
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "morl-blocks: No space left on device." in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@pytest.mark.skipif(os.name != "posix", reason="needs limits of the system")
def test_a_full_disk_under_the_results(tmp_path: Path) -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    command = [sys.executable, "-m", "morl_recipes", "train", "PASTA", "--env", "deep-sea-treasure-v0"]
    command += ["--total-steps", "8192", "--out", str(tmp_path / "s"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited, timeout=120)
    assert done.returncode == 3
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["terminal", "background job of a shell"])
def ctrl_c(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Handle SIGINT or ignore it; return whether it is handled."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param is not signal.SIG_IGN
    signal.signal(signal.SIGINT, before)


def test_sigterm_is_ctrl_c_under_another_name(ctrl_c: bool) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), forward_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before
    if ctrl_c:
        with pytest.raises(KeyboardInterrupt) as interrupt, forward_sigterm():
            os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.type is KeyboardInterrupt
