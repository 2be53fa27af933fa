"""Run tests on mutants: collect the tests once, then fork a child for each mutant.

A child puts the code of the changed function in the place of the old one, in every function object that has it: whoever
imported the function, or wrapped it, calls the mutant. Nothing is imported or collected twice.
"""

import ctypes
import gc
import itertools
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

OPTIONS = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line")
MEMORY = 16 * 2**30
"""Most bytes of addresses of a child: a loop that never ends shall not take the machine's memory."""
START, SLOWER, ASLEEP = 10, 5, 300.0
"""A mutant may take ten seconds of the processor and five times those of its tests, and so many that pass by."""
PR_SET_PDEATHSIG = 1
LATE, LOST = "out of time", "interpreter lost"

Functions = dict[tuple[str, str, int], list[FunctionType]]


@dataclass
class Trace:
    """What tests call."""

    passed: dict[str, float] = field(default_factory=dict)
    """Processor seconds of each test that passed, those of its own processes included."""
    reached: dict[str, list[str]] = field(default_factory=dict)
    """Functions of the project, as ``path:Class.name``, that each test calls."""


class Runner:
    """Collect tests in a child process, and let a function work with them there.

    Args:
        root: The repository.
        work: Called in the child with this object; returns what :meth:`run` shall return.
    """

    def __init__(self, root: Path, work: Callable[["Runner"], Any]) -> None:
        self.say: Callable[[str], object] = print
        self.root, self.work, self.result = root, work, None
        self.items, self.failed, self.functions = dict[str, pytest.Item](), list[str](), Functions()
        self.tracer: _Tracer | None = None
        self.place = root / "build" / "mutants"

    def run(self, files: Sequence[str]) -> Any:
        """Collect the tests of some files and return the result of the work."""
        self.place.mkdir(parents=True, exist_ok=True)
        out = self.place / "result.json"
        out.unlink(missing_ok=True)

        def child() -> None:
            options = [*OPTIONS, f"--basetemp={self.place / 'tmp'}", f"--rootdir={self.root}"]
            pytest.main([*options, *(str(self.root / file) for file in files)], plugins=[self])
            out.write_text(json.dumps(self.result))

        fork(child)
        shutil.rmtree(self.place / "tmp", ignore_errors=True)
        return json.loads(out.read_text())

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Let hypothesis stop at the first example that fails: nobody reads the smallest one."""
        from hypothesis import Phase, settings

        with suppress(Exception):  # the tests' own profile, where there is one
            settings.load_profile("house")
        settings.register_profile("mutants", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Work, in the place of running the tests."""
        if session.testsfailed:
            raise RuntimeError("Some files of tests cannot be collected.")
        self.items = {item.nodeid: item for item in session.items}
        self.functions = _functions(self.root)
        gc.freeze()  # so that children share memory with this process
        sink = os.open(self.place / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        kept = {stream: os.dup(stream) for stream in (1, 2)}
        self.say = lambda text: os.write(kept[1], f"{text}\n".encode())
        for stream in kept:
            os.dup2(sink, stream)
        try:
            self.result = self.work(self)
        finally:
            for stream, old in kept.items():
                os.dup2(old, stream)
        return True

    def trace(self, tests: Sequence[str]) -> Trace:
        """Run tests without a fault and return what each calls."""
        out = self.place / "trace.json"
        out.unlink(missing_ok=True)
        tracer = _Tracer(self.root)

        def child() -> None:
            plugins = self.items[tests[0]].config.pluginmanager
            plugins.register(tracer)
            self._run(tests, stop=False)
            for name in self.failed:
                tracer.trace.passed.pop(name, None)
            out.write_text(json.dumps(vars(tracer.trace)))

        if tests:
            fork(child)
        return Trace(**json.loads(out.read_text())) if tests else Trace()

    def verdict(self, path: str, owner: str, source: str | None, tests: Sequence[str], seconds: float) -> str | None:
        """Run tests on a mutant, or without a fault.

        Args:
            path: File of the mutant.
            owner: Qualified name of its function.
            source: The file's text with the fault; ``None`` for none.
            tests: What to run, the first failure ends it.
            seconds: Processor seconds that they take without a fault.

        Returns:
            The test that failed or another sign of the fault, an empty text if there is none, ``None`` if the function
            with the fault has the same code.
        """
        out = self.place / "verdict.txt"
        out.unlink(missing_ok=True)

        def child() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            most = round(time.process_time() + START + SLOWER * seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            if source is not None and not _replace(self.functions, self.root / path, owner, source):
                out.write_text("same code")
                return
            self._run(tests, stop=True)
            out.write_text(self.failed[0] if self.failed else "")

        if not tests:
            return ""
        ended = fork(child, ASLEEP + 100 * seconds)
        if not out.exists():
            return LOST if ended else LATE
        text = out.read_text()
        return None if text == "same code" else text

    def _run(self, tests: Sequence[str], *, stop: bool) -> None:
        items = [self.items[name] for name in tests]
        for item, following in itertools.zip_longest(items, items[1:]):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if stop and self.failed:
                return


class _Tracer:
    """Keep which functions each test calls, those of its shared fixtures included."""

    def __init__(self, root: Path) -> None:
        self.root, self.trace = f"{root}{os.sep}", Trace()
        self.calls, self.shared = set[str](), dict[str, set[str]]()

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(self.root):
            self.calls.add(f"{code.co_filename.removeprefix(self.root)}:{_name(code).partition('.<locals>')[0]}")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        before, self.calls = self.calls, set()
        try:
            return (yield)
        finally:
            self.shared[fixturedef.argname] = self.shared.get(fixturedef.argname, set()) | self.calls
            self.calls |= before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.calls, begun = set(), sum(os.times()[:4])
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            for name in getattr(item, "fixturenames", ()):
                self.calls |= self.shared.get(name, set())
            self.trace.reached[item.nodeid] = sorted(self.calls)
            if item.nodeid in self.trace.passed:
                self.trace.passed[item.nodeid] = round(sum(os.times()[:4]) - begun, 2)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.trace.passed[report.nodeid] = 0.0


def _name(code: CodeType) -> str:
    return code.co_qualname


def _functions(root: Path) -> Functions:
    """Return the function objects of the project by file, qualified name and first line, wherever they are."""
    found = Functions()
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(f"{root}{os.sep}"):
            code = thing.__code__
            found.setdefault((code.co_filename, _name(code), code.co_firstlineno), []).append(thing)
    return found


def _replace(functions: Functions, path: Path, owner: str, source: str) -> bool:
    """Put a mutant's code into all objects of its function; tell whether some code is another one now."""
    other = False
    inner = f"{owner}.<locals>."  # functions that it returned when the project was imported
    for code in _codes(compile(source, str(path), "exec", dont_inherit=True)):
        name = _name(code)
        if name != owner and not name.startswith(inner):
            continue
        for function in functions.get((str(path), name, code.co_firstlineno), ()):
            old = function.__code__
            other |= _meaning(old) != _meaning(code)
            with suppress(ValueError):  # it needs other names from around it
                function.__code__ = code
            other &= function.__code__ is code or name != owner
    return other


def _meaning(code: CodeType) -> Any:
    constants = [_meaning(one) if isinstance(one, CodeType) else (type(one), repr(one)) for one in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def module(root: Path, path: str) -> bool:
    """Import the module of a file, so that its functions are there to be changed; tell whether that was possible."""
    name = ".".join(Path(path).with_suffix("").parts).removeprefix("recipes.").removesuffix(".__init__")
    try:
        file = import_module(name).__file__
    except ImportError:
        return False
    if file is None or Path(file) != root / path:
        raise RuntimeError(f"{name} must be imported from {root / path}, got {file}.")
    return True


def spread(runner: Runner, workers: int, work: Callable[[int], None]) -> None:
    """Do work in several child processes at once, each with its number and a folder of its own."""

    def child(number: int) -> None:
        runner.place /= str(number)
        runner.place.mkdir(exist_ok=True)
        work(number)

    started = [_start(partial(child, number)) for number in range(workers)]
    ended = [os.waitpid(pid, 0)[1] for pid in started]
    if any(ended):
        raise RuntimeError("A worker failed; its output says why.")


def fork(child: Callable[[], None], limit: float | None = None) -> bool:
    """Run a function in a child process; end it and its own children after a limit. Tell whether it was not too late.

    An exception in the child is one here, too.
    """
    pid = _start(child)
    watch = select.poll()
    watch.register(handle := os.pidfd_open(pid), select.POLLIN)
    in_time = bool(watch.poll(None if limit is None else 1000 * limit))
    os.close(handle)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # and what it left running
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("A child process failed; its output says why.")
    return in_time and not (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL))


def _start(child: Callable[[], None]) -> int:
    """Run a function in a child process, which ends with this one; return its id."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            child()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return pid
