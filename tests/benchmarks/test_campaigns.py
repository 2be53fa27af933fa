"""The campaigns run, count what goes wrong, and see it when something does."""

from pathlib import Path

import pytest

from benchmarks import _damage, damage_campaign, kill_campaign, store_scale
from benchmarks._strangers import fingerprint, plant
from morl_recipes.common import atomic_files


def test_a_few_damaged_stores(tmp_path: Path) -> None:
    made = damage_campaign.main(damage_campaign.Args(tmp_path / "d.json", most=6))
    assert made["cases"] == 6
    assert made["wrong_numbers"] == made["unnoticed"] == made["foreign"] == made["tracebacks"] == []
    assert "foreign files touched:                     0" in (tmp_path / "d.txt").read_text()
    assert len(list(_damage.cases(0))) >= 369


def test_a_store_that_follows_links_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = [case for case in _damage.cases(0) if case[0].startswith(("tmp: a link", ".lock: a link"))]
    monkeypatch.setattr(damage_campaign, "cases", lambda seed: link)
    monkeypatch.setattr(atomic_files, "inside", lambda folder, *names: folder.joinpath(*names))
    made = damage_campaign.main(damage_campaign.Args(tmp_path / "d.json"))
    assert made["foreign"]


def test_strangers_are_compared_by_name_content_and_age(tmp_path: Path) -> None:
    before = fingerprint(plant(tmp_path / "theirs"))
    (tmp_path / "theirs" / "run.json").write_text("changed")
    assert fingerprint(tmp_path / "theirs") != before


def test_a_sweep_is_killed_once(tmp_path: Path) -> None:
    made = kill_campaign.main(kill_campaign.Args(tmp_path / "k.json", kills=1, total_steps=2048, workers=1))
    assert made["kills"] == 1
    assert made["different"] == made["rewritten"] == made["damaged"] == made["tracebacks"] == 0


def test_a_small_store_is_timed(tmp_path: Path) -> None:
    made = store_scale.main(store_scale.Args(tmp_path / "s.json", seeds=1, rows=("PASTA",), iterations=3))
    assert made["runs"] == 8
