"""What is installed is what was tested: the lock has the pinned versions, and no workflow runs code without a pin."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _pins(file: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / file).read_text(), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_the_lock_has_a_hash_for_every_version_that_constraints_pin() -> None:
    locked, pinned = _pins("requirements.lock"), _pins("constraints.txt")
    assert locked.items() <= pinned.items()
    assert {"torch", "torchrl", "numpy", "pytest", "ruff", "trl"} <= locked.keys()
    text = (ROOT / "requirements.lock").read_text()
    assert len(re.findall(r"^\S+==\S+ --hash=sha256:[0-9a-f]{64}$", text, re.MULTILINE)) == len(locked)


def test_a_workflow_names_actions_by_commit_and_may_only_read() -> None:
    for path in (ROOT / ".github").glob("workflows/*.y*ml"):
        text = path.read_text()
        assert re.search(r"^permissions:\s*(contents: read|read-all)$", text, re.MULTILINE), path
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}( #.*)?", use) for use in re.findall(r"uses: (.*)", text)), path
