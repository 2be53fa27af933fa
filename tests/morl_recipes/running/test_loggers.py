import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from morl_recipes.running.loggers import check_logger, log, open_logger
from morl_recipes.running.progress import Bar
from tests.refusals import refused

NAN = torch.tensor([torch.nan, torch.nan])
COLUMNS = {"hv": torch.tensor([0.2, 0.4]), "eu": torch.tensor([1.0, torch.nan]), "conflict": NAN, "mu": NAN}


def test_csv_gets_every_known_number_and_the_mean(tmp_path: Path) -> None:
    with open_logger("csv", tmp_path / "logs", "mine") as logger:
        log([logger], COLUMNS, step=64)
    text = {path.stem: path.read_text() for path in tmp_path.rglob("*.csv")}
    files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.csv")]
    assert any("hv" in name for name in files)
    assert not any("mu" in name for name in files)
    assert any("64" in own and f"{float(COLUMNS['hv'].mean())}" in own for own in text.values()), text


def test_tensorboard_writes_beside_the_results(tmp_path: Path) -> None:
    read = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with open_logger("tensorboard", tmp_path / "logs", "mine") as logger:
        logger.log_scalar("hv", 0.5, 64)
    events = read.EventAccumulator(str(tmp_path / "logs" / "mine")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("hv")] == [(64, 0.5)]


def test_every_training_has_a_run_of_its_own_in_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for title in ("first", "second"):
        with open_logger("wandb", tmp_path / "logs", title) as logger:
            logger.log_scalar("hv", 0.5, 64)
        assert wandb.run is None
    assert len(list(tmp_path.rglob("*.wandb"))) == 2


@pytest.mark.filterwarnings("ignore")  # of the packages that MLflow stands on
def test_every_training_has_a_run_of_its_own_in_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    for title in ("first", "second"):
        with open_logger("mlflow", tmp_path / "logs", title) as logger:
            logger.log_scalar("hv", 0.5, 64)
        assert mlflow.active_run() is None
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'logs' / 'mlflow.db'}")
    experiments = [client.get_experiment_by_name(title).experiment_id for title in ("first", "second")]
    for experiment in experiments:
        (run,) = client.search_runs([experiment])
        assert run.data.metrics == {"hv": 0.5}


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_run_of_a_logger_ends_with_its_training(name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that go on with the last run of the process are told that it is over, also after an error."""
    ended, places = [], []

    def make(exp_name: str, **place: str) -> SimpleNamespace:
        places.append(place)
        return SimpleNamespace(experiment=SimpleNamespace(finish=lambda: ended.append(exp_name)))

    package = ModuleType(name)
    package.end_run = lambda: ended.append("mine")  # type: ignore[attr-defined]
    home = ModuleType(f"torchrl.record.loggers.{name}")
    home.WandbLogger = home.MLFlowLogger = make  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setitem(sys.modules, home.__name__, home)
    with pytest.raises(RuntimeError, match="stopped"), open_logger(name, tmp_path / "logs", "mine"):
        raise RuntimeError("stopped")
    assert ended == ["mine"]
    # MLflow no longer keeps runs in plain folders.
    assert str(tmp_path) in str(places)
    assert ("sqlite:///" in str(places)) == (name == "mlflow")


def test_unknown_missing_and_broken_loggers_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(r"unknown logger 'tensorbord'. Nearest: tensorboard", check_logger, "tensorbord")
    check_logger("csv")
    (tmp_path / "mlflow.py").write_text("from json import nothing")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mlflow", raising=False)
    monkeypatch.setitem(sys.modules, "wandb", None)
    for name, words in (("wandb", "needs the package wandb: pip install wandb"), ("mlflow", "cannot import mlflow: ")):
        with pytest.raises(ImportError, match=f"The logger {name} {words}"):
            check_logger(name)


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("show", [True, False])
def test_bar_shows_the_known_means_and_the_rate(
    terminal: bool, show: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr("morl_recipes.running.progress.EVERY", 0.0)
    bar = Bar(100, 0, show=show)
    for _ in range(2):
        bar.update(50, COLUMNS)
    bar.bar.close()
    output = "".join(capsys.readouterr())
    for word in ("100%" if terminal else "100.0% of 100 steps, ", "HV=0.3", "EU=1", "steps/s"):
        assert (word in output) == show
    assert "μ=" not in output
    assert ("\r" in output) == (terminal and show)
