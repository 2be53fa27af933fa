import signal
import sys
from pathlib import Path

import pytest
import torch

from morl_recipes.running.engines.job import Interrupt
from morl_recipes.running.loggers import log
from morl_recipes.running.progress import Bar

NAN = torch.tensor([torch.nan, torch.nan])
COLUMNS = {"hv": torch.tensor([0.2, 0.4]), "eu": torch.tensor([1.0, torch.nan]), "conflict": NAN, "mu": NAN}


def test_bar_shows_the_means_and_the_rate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = Bar(100, 0, show=True)
    bar.update(50, COLUMNS)
    bar.say("a message")
    bar.close()
    output = "".join(capsys.readouterr())
    assert "HV=0.3" in output
    assert "EU=1" in output
    assert "μ=" not in output
    assert "step/s" in output
    assert "a message" in output


def test_without_a_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(100, 0, show=True)
    for _ in range(50):
        bar.update(2, COLUMNS)
    bar.say("a message")
    bar.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-2:] == ["100 of 100 steps: HV 0.3, EU 1", "a message"]


def test_quiet_mode_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(100, 0, show=False)
    bar.update(50, {name: torch.ones(1) for name in ("hv", "eu", "conflict", "mu")})
    bar.say("a message")
    bar.close()
    assert "".join(capsys.readouterr()) == ""


def test_torchrl_loggers_get_every_known_number(tmp_path: Path) -> None:
    from torchrl.record.loggers.csv import CSVLogger

    logger = CSVLogger(exp_name="run", log_dir=str(tmp_path))
    log([logger], {"mu": torch.tensor([1.0, 3.0]), "hv": torch.tensor([torch.nan, torch.nan])}, step=64)
    files = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.csv")}
    assert any("mu" in name and "64" in text and "2.0" in text for name, text in files.items()), files
    assert not any("hv" in name for name in files)


def test_first_interrupt_waits_and_the_second_does_not() -> None:
    with Interrupt() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
