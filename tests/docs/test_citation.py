"""How to cite the package says its version."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _version(name: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
    assert found, name
    return found.group(1)


def test_the_citation_has_the_packages_version() -> None:
    assert _version("CITATION.cff", r"^version: (\S+)$") == _version("pyproject.toml", r'^version = "(\S+)"$')
