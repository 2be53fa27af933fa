"""What became of one fuzzed call: fine, refused by name, or one of the four failures."""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tensordict import TensorDictBase
from torch import Tensor

from benchmarks._fuzz_inputs import Draw, spoil

FAILURES = ("obscure", "unnamed", "nan", "silent")
VERDICTS = ("fine", "named", "carried", "unreached", *FAILURES)
TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 6e-2, torch.float32: 2e-4, torch.float64: 1e-6}


class UnreachedError(Exception):
    """The arguments cannot even be put into a tensordict, so that the block never saw them."""


@dataclass(frozen=True)
class Case:
    """A public name, how to call it well, and what it should answer.

    Args:
        name: What is reported, such as ``"SmoothTchebycheff.attention"``.
        make: Good arguments by name.
        call: The call under test.
        oracle: The expected answer in float64 and the size that its rounding is relative to; ``None`` to skip.
        pure: A pure function, which carries NaN on instead of reading its tensors.
        keep: Arguments that are never spoilt.
        ignores: Arguments whose NaN need not show in the answer.
        words: Other names that an error may use.
        strain: Size of arguments from which an overflow is the formula's own, as in an exponential.
    """

    name: str
    make: Callable[[Draw], dict[str, Any]]
    call: Callable[..., Any]
    oracle: Callable[..., tuple[Any, Any] | None] | None = None
    pure: bool = False
    keep: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    strain: float = np.inf


def judge(case: Case, seed: int) -> tuple[str, str]:
    """Make one call and return its verdict and, for a failure, what happened."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw = Draw(seed)
        arguments = spoil(draw, case.make(draw), case.keep)
        try:
            result = case.call(**arguments)
        except UnreachedError:
            return "unreached", ""
        except Exception as error:
            return _judge_error(case, arguments, error)
        return _judge_answer(case, arguments, result)


def _judge_error(case: Case, arguments: dict[str, Any], error: Exception) -> tuple[str, str]:
    """Judge a call that raised."""
    # TensorDict wraps what a module raised; the user sees both.
    wrapped = str(error).startswith("Failed while executing module") and error.__cause__ is not None
    cause = error.__cause__ if wrapped else error
    words = {*arguments, *case.words}
    if isinstance(cause, KeyError) and any(repr(word) in str(cause) for word in words):
        return "named", ""  # a key that the user's tensordict lacks
    if not isinstance(cause, ValueError | TypeError):
        return "obscure", f"{type(error).__name__}: {error}"
    named = words & set(re.findall(r"`([\w.]+)", str(cause)))
    return ("named", "") if named else ("unnamed", f"{type(error).__name__}: {error}")


def _judge_answer(case: Case, arguments: dict[str, Any], result: Any) -> tuple[str, str]:
    """Judge a call that returned."""
    answers = [answer for answer in _arrays(result) if answer.size]
    finite = all(np.isfinite(answer).all() for answer in answers)
    read = [value for name, value in arguments.items() if name not in case.ignores]
    if any(tensor.is_complex() for tensor in _tensors(read)):
        return "silent", "an imaginary part was dropped"
    if finite and answers and any(np.isnan(array).any() for array in _arrays_of(read)):
        return "silent", "NaN went in and a number came out"
    if not _all_finite(read if finite else list(arguments.values())):
        return ("carried", "") if case.pure else ("nan", "non-finite input was not refused")
    if not finite:
        overflow = case.pure and _strains(list(arguments.values()), result, case.strain)
        return ("carried", "") if overflow else ("nan", "finite input gave a result that is not")
    if not _all_finite(list(arguments.values())):
        return "fine", ""
    return _compare(case, arguments, result, answers)


def _arrays_of(values: list[Any]) -> list[np.ndarray]:
    return [array for value in values for array in _arrays(value)]


def _all_finite(values: list[Any]) -> bool:
    return all(np.isfinite(array).all() for array in _arrays_of(values))


def _compare(case: Case, arguments: dict[str, Any], result: Any, answers: list[np.ndarray]) -> tuple[str, str]:
    """Hold the answer against the oracle."""
    if case.oracle is None or not answers:
        return "fine", ""
    expected = case.oracle(**{name: _plain(value) for name, value in arguments.items()})
    if expected is None:
        return "fine", ""
    want, size = (np.asarray(_plain(value), dtype=np.float64) for value in expected)
    if answers[0].shape != want.shape:
        return "silent", f"shape {answers[0].shape} instead of {want.shape}"
    tolerance = TOLERANCE.get(_coarsest(result), 1e-6)
    off = np.abs(answers[0] - want) - tolerance * np.maximum(np.abs(want), np.abs(size)) - 1e-30
    tiny = np.abs(want) < _smallest(result)
    if bool(((off > 0) & ~tiny).any()):
        return "silent", f"{answers[0].flatten()[:4]} instead of {want.flatten()[:4]}"
    return "fine", ""


def _strains(values: list[Any], result: Any, limit: float) -> bool:
    """Tell whether some numbers are so large that their squares leave the dtype that the answer is in."""
    largest = torch.finfo(_coarsest(result)).max
    return any(array.size and np.abs(array).max() > min(limit, largest**0.4) for array in _arrays_of(values))


def _coarsest(result: Any) -> torch.dtype:
    tensors = [tensor for tensor in _tensors(result) if tensor.is_floating_point()]
    return max((t.dtype for t in tensors), key=lambda dtype: TOLERANCE.get(dtype, 0.0), default=torch.float64)


def _smallest(result: Any) -> float:
    """Return the size below which the answer's dtype has few digits left."""
    dtype = _coarsest(result)
    return 16 * float(torch.finfo(dtype).tiny) / float(torch.finfo(dtype).eps) if dtype.itemsize < 8 else 0.0


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, TensorDictBase):
        return [leaf for leaf in value.values(include_nested=True, leaves_only=True) if isinstance(leaf, Tensor)]
    if isinstance(value, Mapping):
        return [tensor for entry in value.values() for tensor in _tensors(entry)]
    if isinstance(value, tuple | list):
        return [tensor for entry in value for tensor in _tensors(entry)]
    return []


def _arrays(value: Any) -> list[np.ndarray]:
    """Return all real numbers of an argument or an answer, in float64; anything else has none."""
    if tensors := _tensors(value):
        dense = [t.detach().to_dense() if t.layout is not torch.strided else t.detach() for t in tensors]
        return [t.double().numpy() for t in dense if not t.is_complex()]
    try:
        none = value is None or isinstance(value, str | bytes | Mapping)
        return [] if none else [np.asarray(value, dtype=np.float64)]
    except (TypeError, ValueError):
        return []


def _plain(value: Any) -> Any:
    """Return numbers as float64 arrays and leave words and generators as they are."""
    if isinstance(value, torch.Generator | str) or value is None or callable(value):
        return value
    arrays = _arrays(value)
    return arrays[0] if len(arrays) == 1 else value
