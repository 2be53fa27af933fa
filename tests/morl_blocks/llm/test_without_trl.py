import subprocess
import sys

import pytest

import morl_blocks


def test_importing_needs_torch_alone() -> None:
    code = (
        "import sys, morl_blocks.llm\n"
        "morl_blocks.llm.group_advantage, morl_blocks.llm.ScalarizedReward\n"
        "loaded = {'trl', 'transformers', 'torchrl', 'tensordict'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_sentence_says_what_is_missing() -> None:
    code = (
        "import sys\n"
        "sys.modules['trl'] = None\n"
        "from morl_blocks.llm import AttentionGRPO\n"
        "try:\n"
        "    AttentionGRPO('model', reward_funcs=[len])\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "`AttentionGRPO` needs trl: pip install 'morl-blocks[llm]'."


def test_names() -> None:
    assert set(morl_blocks.llm.__all__) <= set(dir(morl_blocks.llm))
    assert morl_blocks.llm.GroupAdvantage.__name__ == "GroupAdvantage"
    with pytest.raises(AttributeError, match="has no attribute 'gdpo'"):
        morl_blocks.llm.gdpo  # noqa: B018
