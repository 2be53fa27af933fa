"""The README's figures are those of the committed benchmarks, to the digit."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text().replace("\N{MULTIPLICATION SIGN}", "x").split())


def _results(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def test_training() -> None:
    results = _results("training_speed")
    names = {"one run": "R=1 eager", "one run, compiled": "R=1 compiled", "40 runs at once, compiled": "R=40 compiled"}
    for row, name in names.items():
        cells = [f"| {row} "]
        for world in ("dummy", "stealth"):
            ratios = results["ratios"][world][f"ours {name}"]
            cells.append(f" {ratios['SB3 PPO, 1 env']:.1f}x / {ratios['SB3 PPO, 8 env']:.1f}x ")
        assert "|".join(cells) + "|" in README
    faster = results["update_ratios"]["plain / our best R, m=3, compiled"]
    assert f"{faster:.1f}x as fast as a straightforward PASTA" in README
    grown = {runs: results["update_ratios"][f"m=8 / m=2, time: ours R={runs} compiled"] for runs in (1, 8)}
    assert f"{grown[1]:.1f}x for one run and {grown[8]:.1f}x per run of eight" in README
    memory = max(results["peak_memory_gib"].values())
    assert f"{memory:.1f} GiB" in README


def test_combiners_environments_and_workers() -> None:
    combiners = {name: row["ratio"] for name, row in _results("combiner_speed").items()}
    weights = next(1 / ratio for name, ratio in combiners.items() if name.startswith("PCGrad weights"))
    assert f"{weights:.0f}x as fast as 40 TorchJD calls" in README
    update = [combiners[f"actor update, m = {m}, against {m} backward passes"] for m in (3, 8, 2)]
    assert f"takes {update[0]:.2f} of the time of one backward pass per objective at m = 3" in README
    assert f"{update[1]:.2f} at m = 8" in README
    assert f"{update[2]:.2f} (more, not less) at m = 2" in README
    assert f"steps {_results('env_speed')['worlds']['stealth']['speed-up']:.0f}x as fast" in README
    assert f"{_results('sweep_throughput')['ratio_on_a_quiet_machine']:.2f}x the throughput" in README
