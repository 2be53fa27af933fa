import os
import signal
from collections.abc import Iterator

import pytest

from morl_recipes.cli.signals import Terminated, forward_sigterm
from morl_recipes.running.engines.job import Interrupt


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Take SIGINT, which a background job of a shell would ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_sigterm_is_ctrl_c_under_another_name() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), forward_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt) as interrupt, forward_sigterm():
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupt.type is KeyboardInterrupt
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_training_ends_its_iteration_first() -> None:
    with forward_sigterm(), Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.requested


def test_background_jobs_of_a_shell_that_ignore_ctrl_c_are_terminated_too() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(Terminated), forward_sigterm():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)
