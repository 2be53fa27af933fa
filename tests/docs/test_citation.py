"""The version stands in one place; the citation and the changelog say the same."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _version(name: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
    assert found, name
    return found.group(1)


def test_the_citation_has_the_packages_version() -> None:
    assert _version("CITATION.cff", r"^version: (\S+)$") == _version("pyproject.toml", r'^version = "(\S+)"$')


def test_the_changelog_begins_with_the_packages_version() -> None:
    headings = re.findall(r"^## \[(.+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == _version("pyproject.toml", r'^version = "(\S+)"$')
    assert len(set(headings)) == len(headings)


def test_the_changelogs_headings_are_the_agreed_ones() -> None:
    agreed = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)) <= agreed
