"""``morl-blocks front`` from the outside."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from morl_recipes import Front
from morl_recipes.cli import main
from morl_recipes.recipe.spec import KINDS
from morl_recipes.running.recorder import Recorder
from morl_recipes.store import versions
from morl_recipes.store.record import RunRecord

Patch = pytest.MonkeyPatch
Printed = pytest.CaptureFixture[str]

QUICK = ["--total-steps", "64", "--num-envs", "2", "--eval-episodes", "1", "--quiet"]
QUICK += [
    *("--set", "ppo.steps_per_iteration=64", "--set", "ppo.minibatch_size=32", "--set", "ppo.epochs=1"),
    *("--env", "deep-sea-treasure-v0"),
]


def test_a_front_is_trained_written_and_printed(tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "f"
    command = ["front", *QUICK, "--preferences", "3", "--seeds", "1", "2", "--reference=-1,-101", "--out", str(out)]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "on deep-sea-treasure-v0 (treasure, time), Linear, raw returns, for fronts, one policy for all" in text
    assert text.count("Hypervolume above -1,-101, seed") == 2
    assert {path.name for path in out.iterdir() if not path.name.startswith("policies")} == {
        *("front.csv", "front.html", "front.json", "front.png", "store")
    }
    assert list(pd.read_csv(out / "front.csv").columns[2:4]) == ["treasure", "time"]
    assert len(Front.load(out).policies) == 2
    assert main([*command, "--reference", "100,100"]) == 0  # nothing is trained again
    assert "Hypervolume above 100,100, seed 1: 0 (no point exceeds the reference" in capsys.readouterr().out


def test_other_pytorch_needs_consent_and_failed_runs_are_retrained(
    tmp_path: Path, capsys: Printed, monkeypatch: Patch
) -> None:
    command = ["front", *QUICK, "--preferences", "3", "--out", str(tmp_path / "f")]

    def spoilt(recorder: Recorder, index: int) -> RunRecord:
        return replace(made(recorder, index), status="failed", reason="spoilt")

    made = Recorder._record_of
    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "_record_of", spoilt)
        assert main(command) == 2
    assert main(command) == 2
    assert "at least one run that does not fail, got spoilt" in capsys.readouterr().err
    installed = {**versions.package_versions(), "torch": "1.0.0"}
    monkeypatch.setattr(versions, "_installed", lambda: installed)
    assert main([*command, "--retry-failed"]) == 3
    assert "here 1.0.0);" in capsys.readouterr().err
    assert main([*command, "--retry-failed", "--accept-versions"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recipe", "critic"], "`recipe` must name one row, got 'critic', which is 4 rows"),
        (["--recipe", "Exact PCGard"], "unknown row 'Exact PCGard'. Nearest: Exact PCGrad"),
        (["--preferences", "1"], "`preferences` must be a whole number >= 2, got 1"),
        (["--reference", "zero"], "`reference` must be numbers"),
        (["--reference", "0,-50,3"], "`reference` must hold 2 finite numbers (treasure, time), got 0,-50,3."),
        (["--reference", "0,nan"], "`reference` must hold 2 finite numbers (treasure, time), got 0,nan."),
        (["--protocol", "Z", "--env", "mo-hopper-2d-v4"], "`name` must be a protocol (A, B, exact), got 'Z'"),
        (["--protocol", "B", "--env", "nothing"], "`env` must be an environment of protocol B (mo-hopper-2d-v4, "),
        (["--protocol", "B", "--env", "mo-ant-v5"], "run mo-ant-v4 instead"),
        (["--protocol", "exact", "--gamma", "0.5"], "`gamma` must be left to protocol exact, got 0.5"),
        (["--protocol", "exact", "--preferences", "3"], "`preferences` must be left to protocol exact, got 3"),
        (["--protocol", "exact", "--reference", "0,0"], "`reference` must be left to protocol exact, got 0,0"),
    ],
)
def test_impossible_options_raise_before_training(
    words: list[str], message: str, tmp_path: Path, capsys: Printed
) -> None:
    assert main(["front", *QUICK, *words, "--out", str(tmp_path / "f")]) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "f").exists()  # nothing was trained before


ROWS_FILE = """
from dataclasses import replace
from morl_blocks.combiners import Combiner
from morl_recipes import ROWS
from morl_recipes.recipe.spec import spec


class Turned(Combiner):
    def combine(self, gramian, attention, noise):
        return FACTOR * gramian.new_ones(gramian.shape[:-1])


Row = replace(ROWS["ours"]["Linear, vector advantages"], combiner=spec(Turned, "NAME")())
"""


@pytest.mark.parametrize("kind", [[], ["--decomposed"], ["--decomposed", "--warm-start", "0.5"]])
def test_an_edited_file_of_rows_does_not_continue(kind: list[str], tmp_path: Path, capsys: Printed) -> None:
    rows, out = tmp_path / "my_rows.py", tmp_path / "f"
    command = ["front", *QUICK, *kind, "--preferences", "3", "--recipe", f"{rows}:Row", "--out", str(out)]
    name = f"Turned{len(kind)}"
    rows.write_text(ROWS_FILE.replace("NAME", name).replace("FACTOR", "1.0"))
    assert main(command) == 0
    words = "one policy per preference" if kind else "one policy for all"
    assert words in capsys.readouterr().out
    assert main(command) == 0  # the same text goes on
    before = (out / "front.json").read_bytes()
    rows.write_text(ROWS_FILE.replace("NAME", name).replace("FACTOR", "-1.0"))
    capsys.readouterr()
    del KINDS[name]  # the next command is another process
    code, said = (2, "got another `recipe_file`") if "--warm-start" in kind else (3, "holds another sweep (file of row")
    assert main(command) == code
    assert said in capsys.readouterr().err
    assert (out / "front.json").read_bytes() == before


def test_protocol_sets_its_options_and_prints_published_values(tmp_path: Path, capsys: Printed) -> None:
    command = ["front", *QUICK, "--protocol", "exact", "--out", str(tmp_path / "f")]
    assert main(command) == 0
    text = capsys.readouterr().out
    table = [line for line in text.splitlines() if "training" in line or "pareto_front" in line]
    assert table[0].startswith("Linear, raw returns, for fronts")
    assert table[0].split()[-4:] == ["1", "64", "this", "training"]
    assert table[1].startswith("exact front")
    assert "994.3" in table[1]
    front = Front.load(tmp_path / "f")
    assert (len(front.asked), front.gamma, front.episodes) == (101, 1.0, 1)
