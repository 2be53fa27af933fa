from pathlib import Path

import pytest

from morl_recipes.loggers import check_logger, open_logger


def test_numbers_reach_the_file(tmp_path: Path) -> None:
    logger = open_logger("csv", tmp_path / "logs", "mine")
    logger.log_scalar("hv", 0.5, 64)
    assert any("0.5" in path.read_text() for path in tmp_path.rglob("*.csv"))


def test_tensorboard_writes_beside_the_results(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    open_logger("tensorboard", tmp_path / "logs", "mine").log_scalar("hv", 0.5, 64)
    assert list(tmp_path.rglob("events*"))


def test_unknown_and_missing_loggers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"unknown logger 'tensorbord'. Nearest: tensorboard"):
        check_logger("tensorbord")
    monkeypatch.setattr("morl_recipes.loggers.find_spec", lambda name: None)
    check_logger("csv")
    with pytest.raises(ImportError, match="The logger wandb needs the package wandb: pip install wandb"):
        check_logger("wandb")
