"""Several rewards of a language model: group advantages under an attention over rewards, and adapters to trainers.

:func:`group_advantage`, :func:`group_normalize`, :func:`reward_attention`, :func:`reward_conflict` and
:class:`ScalarizedReward` need only PyTorch. :class:`AttentionGRPO` needs TRL (``pip install 'morl-blocks[llm]'``) and
:class:`GroupAdvantage` needs TorchRL; both are loaded on first use.
"""

from typing import TYPE_CHECKING

from morl_blocks._extras import lazy
from morl_blocks.llm.advantage import group_advantage
from morl_blocks.llm.attention import reward_attention
from morl_blocks.llm.conflict import reward_conflict
from morl_blocks.llm.normalize import group_normalize
from morl_blocks.llm.scalarized_reward import ScalarizedReward

if TYPE_CHECKING:
    from morl_blocks.llm.attention_grpo import AttentionGRPO
    from morl_blocks.llm.torchrl_advantage import GroupAdvantage

_LAZY = {"AttentionGRPO": "attention_grpo", "GroupAdvantage": "torchrl_advantage"}

__all__ = [
    "AttentionGRPO",
    "GroupAdvantage",
    "ScalarizedReward",
    "group_advantage",
    "group_normalize",
    "reward_attention",
    "reward_conflict",
]


__getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
