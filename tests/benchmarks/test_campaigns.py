from pathlib import Path

import pytest

from benchmarks import _damage, damage_campaign, endurance, kill_campaign, store_scale
from benchmarks._strangers import fingerprint, plant


def test_a_few_damaged_stores(tmp_path: Path) -> None:
    made = damage_campaign.main(damage_campaign.Args(tmp_path / "d.json", most=6))
    assert made["cases"] == 6
    assert made["wrong_numbers"] == made["unnoticed"] == made["foreign"] == made["tracebacks"] == []
    assert "foreign files touched:                     0" in (tmp_path / "d.txt").read_text()
    assert len(list(_damage.cases(0))) >= 369


def test_a_sweep_is_killed_once_and_a_small_store_timed(tmp_path: Path) -> None:
    made = kill_campaign.main(kill_campaign.Args(tmp_path / "k.json", kills=1, total_steps=2048, workers=1))
    assert made["kills"] == 1
    assert made["different"] == made["rewritten"] == made["damaged"] == made["tracebacks"] == 0
    assert store_scale.main(store_scale.Args(tmp_path / "s.json", seeds=1, rows=("PASTA",), iterations=3))["runs"] == 8
    before = fingerprint(plant(tmp_path / "theirs"))  # strangers are compared by content, too
    (tmp_path / "theirs" / "run.json").write_text("changed")
    assert fingerprint(tmp_path / "theirs") != before


SMALL = endurance.Args(pairs=1, runs=4, writes=100, lines=200)


@pytest.mark.parametrize("name", list(endurance.CAMPAIGNS)[1:])  # two real sweeps take too long here
def test_nothing_is_lost_under_load(name: str, tmp_path: Path) -> None:
    found = endurance.CAMPAIGNS[name](SMALL, tmp_path)
    assert found.tried
    assert (found.lost, found.silent, found.obscure) == (0, 0, 0)
