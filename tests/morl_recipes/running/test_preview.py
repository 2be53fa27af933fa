"""A dry run says what the real run would say."""

import re
from pathlib import Path

import pytest

from morl_recipes.common.errors import StoreError
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.preview import preview
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import tiny_plan


def refusal(out: Path) -> list[str]:
    """Return what a preview and a real run raise for a folder, up to what they did about it."""
    words = []
    for attempt in (lambda: preview(tiny_plan(), out), lambda: run_sweep(tiny_plan(), out, InlineEngine())):
        with pytest.raises(StoreError) as error:
            attempt()
        words.append(str(error.value).split(")")[0])
    return words


def test_folder_that_the_sweep_would_refuse_is_refused(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "index.html").touch()
    ours, theirs = refusal(tmp_path / "web")
    assert ours == theirs
    assert "not a store and not empty (it holds index.html" in ours
    ours, theirs = refusal(tmp_path / "web" / "index.html" / "results")
    assert ours == theirs
    assert "cannot be written (Not a directory" in ours


def test_population_size_without_effect_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_sweep(tiny_plan(population=4), tmp_path / "s", InlineEngine(), work=fakes.fake_work, progress=False)
    words = "Populations keep the size 4 that the sweep was started with: `population` = 1 has no effect."
    assert words not in capsys.readouterr().out
    assert words in preview(tiny_plan(population=1), tmp_path / "s")
    assert words not in preview(tiny_plan(), tmp_path / "s")
    run_sweep(tiny_plan(population=1), tmp_path / "s", InlineEngine(), work=fakes.fake_work, progress=False)
    assert words in capsys.readouterr().out


def test_failed_runs_count_as_the_real_run_counts_them(tmp_path: Path) -> None:
    run_sweep(tiny_plan(), tmp_path / "s", InlineEngine(), work=fakes.one_fails, progress=False)
    assert "; 0 to do" in preview(tiny_plan(), tmp_path / "s")
    assert "; 1 to do" in preview(tiny_plan(), tmp_path / "s", retry_failed=True)


def test_new_sweep_is_estimated_for_this_machine_and_not_for_a_cluster(tmp_path: Path) -> None:
    words = "a real run sizes them for the Ray cluster"
    assert words in preview(tiny_plan(), tmp_path / "s", engine="ray")
    assert words not in preview(tiny_plan(population=2), tmp_path / "s", engine="ray")
    text = preview(tiny_plan(), tmp_path / "s")
    assert words not in text
    assert re.search(r"About \d+:\d\d:\d\d \(h:mm:ss\) on \d+ worker", text)
