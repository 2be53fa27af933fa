"""What the page on several rewards of a language model says is what the committed figures say."""

import json
import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "llm_rewards.md").read_text()
RUNS = json.loads((ROOT / "benchmarks" / "results" / "llm_rewards.json").read_text())["runs"]


def _scores(row: str, score: str) -> list[float]:
    return [run[score] for run in RUNS if run["row"] == row]


def test_what_to_take_from_it() -> None:
    for row, end in (("Linear (GRPO)", "brief"), ("Linear (GDPO)", "letters")):
        assert len(_scores(row, end)) == 5
        assert min(_scores(row, end)) > 0.99
        assert max(_scores(row, "worse mean")) < 0.01
    assert min(_scores("STCH of each answer", "worse of an answer")) > 0.24
    assert max(_scores("STCH of the means", "answers with both")) < 0.2
    assert min(_scores("STCH of the means", "worse mean")) > 0.1
    sides = {a > b for a, b in zip(*(_scores("STCH of the means", name) for name in ("brief", "letters")), strict=True)}
    assert sides == {True, False}


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing.*is deprecated:FutureWarning")
@pytest.mark.parametrize("name", ["scalarized", "attention"])
def test_the_snippets_for_trl_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(rf"^```{{code-block}} python\n:name: {name}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    if find_spec("trl") is None:
        compile(found.group(1), name, "exec")
        pytest.skip("trl is not installed")
    import trl
    from datasets import Dataset

    from benchmarks._tiny_language_model import byte_tokenizer, tiny_model
    from benchmarks.llm_rewards import reward_functions

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trl, "GRPOConfig", partial(trl.GRPOConfig, use_cpu=True, bf16=False))
    tokenizer, (brief, letters) = byte_tokenizer(), reward_functions(4)
    namespace: dict[str, Any] = {
        "torch": torch,
        "model": tiny_model(tokenizer, 0, width=16),
        "tokenizer": tokenizer,
        "prompts": Dataset.from_dict({"prompt": ["a", "b"] * 8}),
        "brief": brief,
        "letters": letters,
    }
    exec(found.group(1), namespace)
    assert namespace["trainer"].train_dataset is not None
