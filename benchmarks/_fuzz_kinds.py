"""What each kind of argument must refuse, and the same good value in other forms."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from morl_recipes.recipe.recipe import SLOTS
from morl_recipes.recipe.specs import Fixed, Linear, PCGrad

NAN, INF = float("nan"), float("inf")
NONSENSE: tuple[Any, ...] = (None, object(), b"x", {"a": 1}, print, torch.ones(2, 2, 2))
"""Values that are no number, no word, no list of numbers and no block of a recipe."""
NO_LIST = (*NONSENSE, [], {}, "", NAN, True)
NO_NUMBER = (*NONSENSE, [], {}, "3", "", NAN, INF, -INF, True)
NO_WHOLE = (*NO_NUMBER, 2.5, -1, np.float64(0.5), torch.tensor(1.5))
NO_FLAG = (*NONSENSE[1:], [], {}, "no", "false", 2, 0.5, NAN)
NO_WORD = (*NO_LIST, 3, "nonsense", "\x1b[2J", ["nonsense"])
NO_PATH = (*NONSENSE, [], {}, 3, 2.5, NAN, True, "nul\0", "x" * 5_000)
NO_WEIGHTS = (*NO_LIST, 3, "text", [], [NAN, 1.0], [INF, 0.0], [-0.5, 1.5], [0.5, 0.6], ["a", "b"], [[0.5], [0.5]])

REFUSED: dict[str, tuple[Any, ...]] = {
    "whole": NO_WHOLE,  # 0 is allowed
    "count": (*NO_WHOLE, 0),
    "size": (*NO_WHOLE, 0, 2**62, 2**70),  # something is made of this size
    "number": NO_NUMBER,
    "positive": (*NO_NUMBER, 0.0, -1.0),
    "not negative": (*NO_NUMBER, -1.0),
    "share": (*NO_NUMBER, -0.1, 1.1),
    "discount": (*NO_NUMBER, -0.1, 0.0, 1.1),
    "flag": (None, *NO_FLAG),
    "flag or auto": (None, *NO_FLAG, "Auto"),
    "word": NO_WORD,
    "text": (*NONSENSE, [], {}, 3, NAN, True),
    "name": (*NONSENSE, [], {}, 3, NAN, True, "nonsense", "\x1b[2J", "no.py:make", "x" * 5_000),
    "json": (*NONSENSE, [], {}, 3, NAN, True, "nonsense", "", "[", "[]", "3", "[" * 100_000, '{"nonsense": 1}'),
    "list of text": (*NO_LIST[:-3], NAN, True, 3, [3], [None]),
    "names": (*NO_LIST, 3, [3], [None], "nonsense", ["nonsense"], "no.py:ROW"),
    "new path": NO_PATH,
    "old path": (*NO_PATH, "missing/folder", "missing.csv"),
    "seeds": (*NO_LIST, 3, 2.5, "12", [-1], [1.5], ["a"], [True], [None], [NAN], [0, 0], [[0]]),
    "preferences or count": (*NO_LIST, 2.5, 1, -1, [0.5, 0.5], [[]], [["a"]], [[NAN, 1.0]], [[0.5, 0.6]], [[1.0]]),
    "whole count": (*NO_WHOLE, 0),
    "seed": (*NO_WHOLE, 2**70, [0]),
    "any weights": NO_WEIGHTS,
    "weights": (*NO_WEIGHTS, [1.0], [0.2, 0.3, 0.5]),
    "planned seeds": (*NO_LIST, 2.5, "12", [-1], [1.5], ["a"], [True], [None], [NAN], [[0]], 0, -1, 10**9),
    "planned preferences": (*NO_LIST, 3, [0.5, 0.5], [[]], [["a"]], [[NAN, 1.0]], [[0.5, 0.6]]),
    "preferences": (*NO_LIST, 3, [0.5, 0.5], [[]], [["a"]], [[NAN, 1.0]], [[0.5, 0.6]], [[1.0], [0.5, 0.5]]),
    "numbers": (*NO_LIST, "text", ["a"], [None], [[0.0], [1.0, 2.0]], [NAN, 0.0]),
    "table": (*NONSENSE[:3], *NONSENSE[4:], [], 3, "text", NAN, True, {3: 1}, {"nonsense": 1}, {"\x1b[2J": 1}),
    "text table": (*NONSENSE[:3], *NONSENSE[4:], [], 3, "text", NAN, True, {3: 1}),
    "recipe": (*NO_LIST, 3, "PASTA", Linear()),
    "recipe or table": (*NONSENSE[:3], *NONSENSE[4:], [], 3, "PASTA", Linear()),
    "block": (*NO_LIST[1:], 3, "PCGrad", torch.nn.Linear, PCGrad.block),
    "environment": (*NO_LIST, 3, "nonsense", "no.py:make", "CartPole-v1", lambda: None, lambda a, b, c: None),
    "settings": (*NO_LIST[1:], 3, "text", {"total_steps": 3}),
    "object": (*NO_LIST, 3, "text"),
    "objects": (*NONSENSE, NAN, True, 3, "text"),
    "path": NO_PATH,
    "function": (*NONSENSE[:4], *NONSENSE[5:], [], {}, "", NAN, True, 3, "text"),
    "observation": (*NO_LIST, 3, "text", torch.zeros(3), torch.zeros(2, 1), torch.zeros(2, 64, dtype=torch.complex64)),
    "device": (*NO_LIST[1:], 3.5, "nonsense", "\x1b[2J", "cuda:77"),
    "action": (*NO_LIST, 3, "text", torch.zeros(3), torch.full((2, 2), NAN), torch.zeros(2, 2, dtype=torch.complex64)),
    "mask": (*NO_LIST[1:], 3, torch.zeros(2), torch.zeros(3, dtype=torch.bool), torch.zeros(2, dtype=torch.int64)),
}
"""By kind: what must raise an error that says so."""
REFUSED |= {f"{slot} block": (*REFUSED["block"], PCGrad()) for slot in ("mu", "penalty")}
REFUSED |= {f"{slot} block": (*REFUSED["block"], None, Fixed()) for slot in SLOTS if slot not in ("mu", "penalty")}


def _array(value: Any) -> Any:
    return np.array(value.tolist() if isinstance(value, torch.Tensor) else value)


FORMS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "count": (np.int64,),
    "positive": (np.float64, torch.tensor),
    "share": (np.float64, torch.tensor),
    "seeds": (tuple, _array, torch.tensor),
    "preferences": (tuple, _array, torch.tensor),
    "weights": (list, _array, torch.tensor),
    "numbers": (_array,),
    "old path": (str,),
    "new path": (str,),
}
"""By kind: the good value in other forms, which must be taken."""
