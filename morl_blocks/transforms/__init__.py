"""TorchRL transforms: a scalar reward by any scalarizer, and a preference among the observations."""

from typing import TYPE_CHECKING

from morl_blocks._extras import lazy

if TYPE_CHECKING:
    from morl_blocks.transforms.preference import Preference
    from morl_blocks.transforms.scalarize_reward import ScalarizeReward

__all__ = ["Preference", "ScalarizeReward"]

_HOME = {"Preference": "preference", "ScalarizeReward": "scalarize_reward"}

__getattr__ = lazy(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
