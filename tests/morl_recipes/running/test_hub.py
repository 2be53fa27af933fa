"""A policy as a folder for a model hub: it loads back and acts the same, and its card holds no stranger's markup."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from morl_recipes import load_hub
from morl_recipes.cli import main
from morl_recipes.common.errors import StoreError
from morl_recipes.running.hub import export_hub
from morl_recipes.running.stored_runs import find_run, load_policy, source_of
from morl_recipes.store.files import seal
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fakes import CARD, make_store

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")


def test_loaded_policy_acts_as_that_of_the_run(tmp_path: Path) -> None:
    folder = make_store(tmp_path / "s")
    assert export_hub(folder, tmp_path / "hub", run="r1") == "r1"
    assert {path.name for path in tmp_path.iterdir()} == {"s", "hub"}
    assert {path.name for path in (tmp_path / "hub").iterdir()} == {"model.safetensors", "config.json", "README.md"}
    store = Store.open(folder)
    with source_of(store, "frogger").opened(1, [0]) as world:
        expected = load_policy(store, find_run(store, "r1"), "peak", world)
    policy = load_hub(tmp_path / "hub")
    observation, preference = torch.randn(50, 20), torch.rand(50, 3)
    assert torch.equal(policy(observation, preference), expected(observation, preference))
    assert policy.low.tolist() == [-1.0, -1.0]
    assert not any(parameter.requires_grad for parameter in policy.parameters())


def test_card_has_metadata_and_metrics_over_seeds(tmp_path: Path) -> None:
    export_hub(make_store(tmp_path / "s", seeds=3), tmp_path / "hub", run="r1")
    text = (tmp_path / "hub" / "README.md").read_text()
    header = yaml.safe_load(text.split("---\n")[1])
    assert (header["library_name"], header["pipeline_tag"]) == ("morl-blocks", "reinforcement-learning")
    (result,) = header["model-index"][0]["results"]
    assert result["dataset"] == {"name": "frogger", "type": "frogger"}
    values = {metric["name"]: metric["value"] for metric in result["metrics"]}
    assert values == {
        **dict(zip(CARD.objectives, ("4 ± 0.1", "5 ± 0.2", "6 ± 0.3"), strict=True)),
        "hypervolume": "0.75 ± 0.01",
        "expected utility": "0.75 ± 0.02",
    }
    # 0.25, 0.75 and 1.25: Student's t of two degrees of freedom times 0.5 / sqrt(3)
    assert "| hypervolume | 0.75 ± 0.01 | 0.75 \\[-0.4921, 1.992\\], 3 seeds |" in text
    assert "fresh episodes" in text
    assert "torch.zeros(1, 20)" in text


def test_card_of_an_untested_run_says_so(tmp_path: Path) -> None:
    export_hub(make_store(tmp_path / "s", seeds=1, test=False), tmp_path / "hub")
    text = (tmp_path / "hub" / "README.md").read_text()
    assert "a validation during training" in text
    assert "| hypervolume | 0.25 | one seed |" in text


def test_names_in_a_card_do_not_become_markup(tmp_path: Path) -> None:
    method = 'a: "b"\n---\n# x <script>1</script> | ![i](http://evil.example/x) ${header} \x1b[2J'
    export_hub(make_store(tmp_path / "s", method), tmp_path / "hub")
    text = (tmp_path / "hub" / "README.md").read_text()
    assert "<script>" not in text.split("---\n", 2)[2].replace("\\<", "")
    assert not re.search(r"(?<!\\)!?\[i", text.split("\n---\n", 1)[1])
    assert "\x1b" not in text
    assert "${header}" in text
    header = yaml.safe_load(text.split("\n---\n")[0])
    assert header["model-index"][0]["name"].startswith('a: "b" --- # x <script>')
    assert set(header) == {"library_name", "pipeline_tag", "tags", "model-index"}


@pytest.mark.parametrize("damage", ["config", "model", "network", "size"])
def test_damaged_folder_is_refused(tmp_path: Path, damage: str) -> None:
    export_hub(make_store(tmp_path / "s"), tmp_path / "hub")
    config, model = tmp_path / "hub" / "config.json", tmp_path / "hub" / "model.safetensors"
    fields = json.loads(config.read_text())
    if damage == "model":
        model.write_bytes(model.read_bytes()[:-4] + b"abcd")
    elif damage == "config":
        config.write_text(json.dumps(fields | {"seed": 9}))
    else:
        fields["network"] = 7 if damage == "network" else {**fields["network"], "observation_dim": 3}
        config.write_bytes(seal({name: value for name, value in fields.items() if name != "digest"}))
    with pytest.raises(StoreError, match="damaged"):
        load_hub(tmp_path / "hub")


def test_command_writes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", str(make_store(tmp_path / "s")), "--hub", str(tmp_path / "hub")]
    assert main([*command, "--run", "r0"]) == 0
    assert "hub: r0 (peak)" in capsys.readouterr().out
    assert main(command) == 3
    assert "cannot be written" in capsys.readouterr().err
