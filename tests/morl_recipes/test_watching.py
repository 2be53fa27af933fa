import signal
from pathlib import Path

import pytest
import torch

from morl_recipes.watching import Bar, Interrupt, log


def test_bar_shows_the_means_and_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(100, 0, show=True)
    nan = torch.tensor([torch.nan, torch.nan])
    columns = {"hv": torch.tensor([0.2, 0.4]), "eu": torch.tensor([1.0, torch.nan]), "conflict": nan, "mu": nan}
    bar.update(50, columns)
    bar.say("a message")
    bar.close()
    output = "".join(capsys.readouterr())
    assert "HV=0.3" in output
    assert "EU=1" in output
    assert "μ=" not in output
    assert "step/s" in output
    assert "a message" in output


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
