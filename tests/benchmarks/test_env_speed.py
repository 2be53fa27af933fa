from pathlib import Path

from benchmarks.env_speed import MUJOCO, WORLDS, Args, main


def test_runs_and_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "speed.json", rounds=1, calls=2))
    assert results["worlds"].keys() == WORLDS.keys()
    assert results["mujoco"].keys() == set(MUJOCO)
    assert all(row["batch"] > 0 for row in results["worlds"].values())
    assert (tmp_path / "speed.json").read_text().startswith("{")
    assert "steps per second" in (tmp_path / "speed.txt").read_text()
