"""The version stands in one place; the citation and the changelog say the same."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _version(name: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
    assert found, name
    return found.group(1)


def test_citation_and_changelog_have_the_packages_version() -> None:
    version = _version("pyproject.toml", r'^version = "(\S+)"$')
    assert _version("CITATION.cff", r"^version: (\S+)$") == version
    changelog = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(.+)\]", changelog, re.MULTILINE)
    assert headings[0] == version
    assert len(set(headings)) == len(headings)
    agreed = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", changelog, re.MULTILINE)) <= agreed
