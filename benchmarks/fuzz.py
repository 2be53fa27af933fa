"""Does every public callable answer bad input with a number or with an error that names the argument?

Each public name of ``morl_blocks`` is called with good arguments of which one or two were spoilt. The verdicts:

- *fine*: a finite answer; the same numbers in another form (float64, a list, not contiguous, ...) give the same answer;
- *named*: a ``ValueError`` or ``TypeError`` that this package raises itself, with the argument, the rule and the value;
- *carried*: a pure function that got NaN, infinity or huge numbers passes that on. Pure functions do not read their
  data, so that they compile and one failing run cannot stop the others; modules refuse;
- *unreached*: TensorDict itself refuses to hold such arguments, so that the block never sees them.

And the failures: *obscure* (another exception, or one that another package raised), *unnamed* (an error without the
argument, the rule or the value), *nan* (finite numbers give NaN, or a block lets NaN pass), *silent* (NaN gives a
number, or the same numbers another answer).

Run ``python -m benchmarks.fuzz`` (extra ``torchjd``); it prints a table and writes it as JSON.
"""

import collections
import dataclasses
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor

import morl_blocks
from benchmarks._fuzz_calls import OUTSIDE, Call, UnreachedError, calls, numbers, uncovered
from benchmarks._report import Report

FAILURES = ("obscure", "unnamed", "nan", "silent")
VERDICTS = ("fine", "named", "carried", "unreached", *FAILURES)
PACKAGES = str(Path(morl_blocks.__file__).parent)
"""Who must raise: an error of PyTorch or NumPy speaks of their arguments."""
RULE = re.compile(r"\bmust\b.+\bgot\b", re.DOTALL)
HUGE = 1e15
"""Size from which an overflow in float32 is the formula's own."""


def _filled(value: Tensor, number: float) -> Tensor:
    value = value.double().clone() if not value.is_floating_point() else value.clone()
    value.view(-1)[:1] = number
    return value


def _frozen(value: Tensor) -> Any:
    array = value.numpy().copy()
    array.setflags(write=False)
    return array


# The same numbers in another form: the answer must be the same.
SAME: dict[str, Callable[[Tensor], Any]] = {
    "float64": lambda value: value.double() if value.is_floating_point() else value,
    "list": lambda value: value.tolist(),
    "array": lambda value: value.numpy(),
    "frozen array": _frozen,
    "not contiguous": lambda value: value.repeat_interleave(2, -1)[..., ::2] if value.dim() else value,
    "requires grad": lambda value: value.clone().requires_grad_() if value.is_floating_point() else value,
}
OTHER: dict[str, Callable[[Tensor], Any]] = {
    "float16": lambda value: value.half(),
    "bfloat16": lambda value: value.bfloat16(),
    "integer": lambda value: (3 * value).long(),
    "int8": lambda value: value.to(torch.int8),
    "bool": lambda value: value.bool(),
    "complex": lambda value: value.to(torch.complex64),
    "meta": lambda value: value.to("meta"),
    "sparse": lambda value: value.to_sparse() if value.dim() else value,
    "0-d": lambda value: value.sum(),
    "flat": lambda value: value.flatten(),
    "no rows": lambda value: value[:0] if value.dim() else value,
    "no columns": lambda value: value[..., :0] if value.dim() else value,
    "one column": lambda value: value[..., :1] if value.dim() else value,
    "one more axis": lambda value: value.unsqueeze(0),
    "one more axis at the end": lambda value: value.unsqueeze(-1),
    "twice the rows": lambda value: torch.cat([value, value]) if value.dim() else value,
    "twice the columns": lambda value: torch.cat([value, value], -1) if value.dim() else value,
    "transposed": lambda value: value.mT if value.dim() > 1 else value,
    "negative": lambda value: -value if value.dtype != torch.bool else value,
    "zero": torch.zeros_like,
    "all equal": torch.ones_like,
    **{name: partial(_filled, number=float(name)) for name in ("nan", "inf", "-inf", "1e30", "-1e30")},
    **{f"times {scale:g}": partial(torch.mul, other=scale) for scale in (1e-45, 1e-30, 1e6, 1e20, 1e38)},
}
ODD: tuple[Any, ...] = (None, "text", [], {}, [[1.0], [1.0, 2.0]], object(), torch.nn.Linear(1, 1))
SIZES = (
    0,
    -1,
    1,
    2.5,
    1e-30,
    1e30,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    True,
    "3",
    None,
    torch.ones(2),
    np.float64(2),
    10**15,
    2**70,
)


@dataclasses.dataclass(frozen=True)
class Spoilt:
    """Arguments after something was done to them; ``same`` if they are still the same numbers."""

    arguments: dict[str, Any]
    what: tuple[str, ...]
    same: bool


@st.composite
def spoilt(draw: st.DrawFn, call: Call) -> Spoilt:
    """Draw one or two arguments of a call, and something to do to each."""
    arguments, what, same = dict(call.arguments), list[str](), True
    for name in draw(st.lists(st.sampled_from(sorted(arguments)), max_size=2, unique=True)):
        value = arguments[name]
        if isinstance(value, Tensor):
            kind = draw(st.sampled_from((*SAME, *OTHER, "odd")))
            change = (SAME | OTHER).get(kind)
            arguments[name] = draw(st.sampled_from(ODD)) if change is None else change(value)
            same = same and kind in SAME
        else:
            kind = "another number"
            arguments[name], same = draw(st.sampled_from(SIZES)), False
        what.append(f"{name}: {kind}")
    return Spoilt(arguments, tuple(what), same)


def judge(call: Call, spoiled: Spoilt) -> tuple[str, str]:
    """Make one call and return its verdict and, for a failure, what happened."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            torch.manual_seed(0)
            answer = call.function(**spoiled.arguments)
        except UnreachedError:
            return "unreached", ""
        except Exception as error:
            return judge_error(call, error)
        return judge_answer(call, spoiled, answer)


def judge_error(call: Call, error: Exception) -> tuple[str, str]:
    """Judge a call that raised; what TensorDict wraps is judged like the error itself."""
    wrapped = str(error).startswith("Failed while executing module") and error.__cause__ is not None
    cause = error.__cause__ if wrapped else error
    words, text = {*call.arguments, *call.words}, f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(cause.__traceback__)  # type: ignore[union-attr]
    ours = bool(frames) and frames[-1].filename.startswith(PACKAGES)
    if not ours or not isinstance(cause, ValueError | TypeError):
        return "obscure", f"{frames[-1].filename if frames else type(cause).__name__}: {text}"
    named = words & set(re.findall(r"`([\w.]+)", str(cause)))
    return ("named", "") if named and RULE.search(str(cause)) else ("unnamed", text)


def judge_answer(call: Call, spoiled: Spoilt, answer: Any) -> tuple[str, str]:
    """Judge a call that returned."""
    read = {name: value for name, value in spoiled.arguments.items() if name not in call.ignores}
    tensors = [value for value in read.values() if isinstance(value, Tensor)]
    given, got = numbers(read), numbers(answer)
    if got and not any(array.size for array in got):
        return "fine", ""  # nothing was asked, and nothing answered
    if not all(np.isfinite(array).all() for array in given):
        carried = call.pure or call.name in OUTSIDE
        return ("carried", "") if carried else ("nan", "a number that is not finite was not refused")
    if any(tensor.is_complex() for tensor in tensors):
        return "silent", "an imaginary part was dropped"
    if not all(np.isfinite(array).all() for array in got):
        large = any(array.size and np.abs(array).max() > HUGE for array in given)
        large |= any(tensor.dtype == torch.float16 for tensor in tensors)
        carried = (call.pure and large) or call.name in OUTSIDE
        return ("carried", "") if carried else ("nan", "finite numbers gave one that is not")
    if spoiled.same:
        torch.manual_seed(0)
        want = numbers(call.function(**call.arguments))
        shapes = [array.shape for array in want] == [array.shape for array in got]
        if not shapes or not all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(want, got, strict=True)):
            return (
                "silent",
                f"{[array.flatten()[:4] for array in got]} instead of {[array.flatten()[:4] for array in want]}",
            )
    return "fine", ""


def fuzz(call: Call, inputs: int, examples: int) -> dict[str, Any]:
    """Call one name and count the verdicts; the same inputs every time."""
    counts, shown = collections.Counter[str](), dict[str, list[str]]()

    @settings(
        max_examples=inputs,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(spoilt(call))
    def one(spoiled: Spoilt) -> None:
        verdict, detail = judge(call, spoiled)
        counts[verdict] += 1
        if verdict in FAILURES and len(shown.setdefault(verdict, [])) < examples:
            shown[verdict].append(f"{', '.join(spoiled.what)}: {detail}"[:300])

    one()
    return {**{verdict: counts[verdict] for verdict in VERDICTS}, "examples": shown}


@dataclasses.dataclass(frozen=True)
class Args:
    """Fuzz every public callable."""

    out: Path = Path("benchmarks/results/fuzz.json")
    """Where to write the figures."""
    inputs: int = 1_000
    """Calls per name, at most: no input is tried twice."""
    only: str = ""
    """Fuzz only names that contain this."""
    examples: int = 3
    """Failures to show per name and kind."""


def main(args: Args) -> dict[str, Any]:
    """Fuzz everything, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    results, report = dict[str, Any](), Report(args.out)
    report.say(f"{'name':<40}" + "".join(f"{verdict:>10}" for verdict in VERDICTS))
    for call in calls():
        if args.only not in call.name:
            continue
        row = results[call.name] = fuzz(call, args.inputs, args.examples)
        report.say(f"{call.name:<40}" + "".join(f"{row[verdict]:>10,}" for verdict in VERDICTS))
        for verdict, lines in row["examples"].items():
            print(*(f"    {verdict}: {line}" for line in lines), sep="\n", file=sys.stderr)
    total = {verdict: sum(row[verdict] for row in results.values()) for verdict in VERDICTS}
    report.say(f"{'total of ' + format(sum(total.values()), ','):<40}" + "".join(f"{total[v]:>10,}" for v in VERDICTS))
    report.say(f"public names without a call: {', '.join(sorted(uncovered())) or 'none'}")
    results["total"] = total
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
