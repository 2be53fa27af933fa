"""Does every public callable answer bad input with a number or with an error that names the argument?

Each public name of ``morl_blocks`` is called with good arguments of which one or two were spoilt. Those of
``morl_recipes`` and ``morl_envs`` take few tensors: each argument has a kind (``_fuzz_kinds``), and every value
that its kind must refuse is tried, then the good value in other forms. The verdicts:

- *fine*: a finite answer; the same numbers in another form (float64, a list, not contiguous, ...) give the same answer;
- *named*: a ``ValueError`` or ``TypeError`` that the package raises itself, with argument, rule and value; of an
  unknown name, with the nearest names; of a file or a folder, with its path;
- *carried*: a pure function that got NaN, infinity or huge numbers passes that on. Pure functions do not read their
  data, so that they compile and one failing run cannot stop the others; modules refuse;
- *unreached*: TensorDict itself refuses to hold such arguments, so that the block never sees them.

And the failures: *obscure* (another exception, or one that another package raised), *unnamed* (an error without the
argument, the rule or the value), *nan* (finite numbers give NaN, or a block lets NaN pass), *silent* (NaN gives a
number, the same numbers another answer, or a value that must be refused is taken).

Run ``python -m benchmarks.fuzz`` (extra ``torchjd``); it prints a table and writes it as JSON.
"""

import collections
import dataclasses
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir
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
import morl_envs
import morl_recipes
from benchmarks import _fuzz_harness
from benchmarks._fuzz_calls import OUTSIDE, Call, UnreachedError, calls, numbers, uncovered
from benchmarks._fuzz_kinds import FORMS, REFUSED
from benchmarks._report import Report
from morl_recipes.common.errors import StoreError

FAILURES = ("obscure", "unnamed", "nan", "silent")
VERDICTS = ("fine", "named", "carried", "unreached", *FAILURES)
PACKAGES = tuple(str(Path(str(package.__file__)).parent) for package in (morl_blocks, morl_envs, morl_recipes))
"""Who must raise: an error of PyTorch or NumPy speaks of their arguments."""
RULE = re.compile(r"\bmust\b.+\bgot\b", re.DOTALL)
UNKNOWN = re.compile(r"^unknown .+ (Nearest|Known): ", re.DOTALL)
LONGEST = 60
"""Seconds after which a call counts as one that never ends."""
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
    """Arguments after something was done to them.

    Args:
        arguments: The arguments.
        what: What was done.
        same: They are still the same numbers.
        bad: One of them is what its kind must refuse.
    """

    arguments: dict[str, Any]
    what: tuple[str, ...]
    same: bool
    bad: bool = False


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


def every(call: Call) -> Iterator[Spoilt]:
    """Yield the good arguments, then every value that each must refuse, then the good one in other forms."""
    yield Spoilt(call.arguments, (), same=False)
    for name, words in (call.kinds or {}).items():
        kind, good = words.removesuffix(" or None"), call.arguments[name]
        values = [(value, True) for value in REFUSED[kind] if value is not None or kind == words]
        values += [(form(good), False) for form in FORMS.get(kind, ())]
        for value, bad in values:
            yield Spoilt(call.arguments | {name: value}, (f"{name}: {str(value)[:40]!r}",), same=False, bad=bad)


def judge(call: Call, spoiled: Spoilt) -> tuple[str, str]:
    """Make one call and return its verdict and, for a failure, what happened."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        signal.alarm(LONGEST)
        try:
            torch.manual_seed(0)
            answer = call.function(**spoiled.arguments)
        except UnreachedError:
            return "unreached", ""
        except (Exception, SystemExit) as error:
            if call.kinds is not None and not spoiled.bad:
                return "silent", f"what must be taken was refused: {error}"
            return judge_error(call, spoiled, error)
        finally:
            signal.alarm(0)
        return judge_answer(call, spoiled, answer)


def _late(*_: object) -> None:
    raise TimeoutError(f"not ended after {LONGEST} s")


def judge_error(call: Call, spoiled: Spoilt, error: BaseException) -> tuple[str, str]:
    """Judge a call that raised; what TensorDict wraps is judged like the error itself."""
    wrapped = str(error).startswith("Failed while executing module") and error.__cause__ is not None
    cause = error.__cause__ if wrapped else error
    words, text = {*call.arguments, *call.words}, f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(cause.__traceback__)  # type: ignore[union-attr]
    ours = bool(frames) and frames[-1].filename.startswith(PACKAGES)
    if not ours or not isinstance(cause, ValueError | TypeError | StoreError):
        return "obscure", f"{frames[-1].filename if frames else type(cause).__name__}: {text}"
    named = bool(words & set(re.findall(r"`([\w.]+)", str(cause)))) and RULE.search(str(cause)) is not None
    if call.kinds is not None:
        named = named or UNKNOWN.match(str(cause)) is not None or _tells_the_path(spoiled, str(cause))
    return ("named", "") if named else ("unnamed", text)


def _tells_the_path(spoiled: Spoilt, text: str) -> bool:
    """Whether a message begins with the path of a file or a folder that was given."""
    texts = [one for value in spoiled.arguments.values() for one in (value if isinstance(value, list) else [value])]
    paths = [str(Path(text)).partition(".py:")[0] for text in texts if isinstance(text, str | Path)]
    return any(text.startswith(f"{path}{sign}") for path in paths for sign in (":", "/", ".py:"))


def judge_answer(call: Call, spoiled: Spoilt, answer: Any) -> tuple[str, str]:
    """Judge a call that returned."""
    if spoiled.bad:
        return "silent", "taken"
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

    def count(spoiled: Spoilt) -> None:
        verdict, detail = judge(call, spoiled)
        counts[verdict] += 1
        if verdict in FAILURES and len(shown.setdefault(verdict, [])) < examples:
            shown[verdict].append(f"{', '.join(spoiled.what)}: {detail}"[:300])

    if call.kinds is not None:
        with chdir(_fuzz_harness.made().folder):
            for spoiled in every(call):
                count(spoiled)
    else:
        found = settings(
            max_examples=inputs,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        found(given(spoilt(call))(count))()
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
    signal.signal(signal.SIGALRM, _late)
    results, report = dict[str, Any](), Report(args.out)
    report.say(f"{'name':<40}" + "".join(f"{verdict:>10}" for verdict in VERDICTS))
    for call in (*calls(), *_fuzz_harness.calls()):
        if args.only not in call.name:
            continue
        row = results[call.name] = fuzz(call, args.inputs, args.examples)
        report.say(f"{call.name:<40}" + "".join(f"{row[verdict]:>10,}" for verdict in VERDICTS))
        for verdict, lines in row["examples"].items():
            print(*(f"    {verdict}: {line}" for line in lines), sep="\n", file=sys.stderr)
    total = {verdict: sum(row[verdict] for row in results.values()) for verdict in VERDICTS}
    report.say(f"{'total of ' + format(sum(total.values()), ','):<40}" + "".join(f"{total[v]:>10,}" for v in VERDICTS))
    left = sorted(uncovered() | _fuzz_harness.uncovered())
    report.say(f"public names without a call: {', '.join(left) or 'none'}")
    _fuzz_harness.remove()
    results["total"] = total
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
