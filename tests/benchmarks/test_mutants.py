import ast
from pathlib import Path
from typing import Any

import pytest

from benchmarks._mutant_tests import LATE, Runner, module
from benchmarks._mutations import mutants_of, mutated
from benchmarks.mutants import Reached, Tried

SOURCE = "def clip(x, top):\n    while top == 0:\n        pass\n    return min(x, top)\n"
TEST = "from clipped import clip\n\ndef test_clip():\n    assert (clip(3, 2), clip(1, 2)) == (2, 1)\n"


def test_every_fault_is_one_change_and_still_parses() -> None:
    source = SOURCE + "def state_dict(self):\n    '''No 1.'''\n    if not self.a and -self.b:\n        self.f(c=3)\n"
    source += "        raise ValueError(1)\n    yield from (('a', self.a + 1), ('b', self.b))\n    return {'a': True}\n"
    found = mutants_of(source, "m.py")
    for mutant in found:
        text = mutated(source, mutant)
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)), mutant
        assert len(text.splitlines()) == len(source.splitlines())
    kinds = {mutant.kind for mutant in found}
    assert kinds >= {"comparison", "other function", "not dropped", "sign", "and / or", "arithmetic", "constant"}
    assert kinds >= {"keyword dropped", "statement dropped", "state not saved"}
    assert not any("ValueError" not in mutant.before and "1)" in mutant.before for mutant in found if mutant.line == 9)


def test_a_fault_is_killed_by_a_test_and_not_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clipped.py").write_text(SOURCE)
    (tmp_path / "test_clipped.py").write_text(TEST)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("benchmarks._mutant_tests.ASLEEP", 2.0)
    assert module(tmp_path, "clipped.py")
    mutants = {mutant.after: mutant for mutant in mutants_of(SOURCE, "clipped.py")}

    def work(runner: Runner) -> list[Any]:
        tried = Tried(runner, Reached(runner, tmp_path / "reached", {}), {}, {"clipped.py": SOURCE})
        chosen = [mutants[after] for after in ("max", "1", "(top != 0)")]
        return [*(tried(mutant, 1.0) for mutant in chosen), tried(chosen[0], 1.0, fault=False)]

    test = "test_clipped.py::test_clip"
    assert Runner(tmp_path, work).run(["test_clipped.py"]) == [test, "", LATE, ""]
