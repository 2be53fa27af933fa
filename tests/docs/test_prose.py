"""Prose that can be read aloud: no sentence over 30 words and no line over 120 characters on any page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "_build" not in page.parts and page.name != "CHANGELOG.md"
)
WORDS, COLUMNS = 30, 120
UNBREAKABLE = re.compile(r"\||\s+:members:")  # Markdown and Sphinx want a table's row and an option on one line
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
DISPLAY = re.compile(r"\$\$.*?\$\$", re.DOTALL)
INLINE = re.compile(r"`[^`]+`|\$[^$]+\$")  # code and formulas count as one word
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:])[\"')*_]*\s+")


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, items, headings and cells as plain words."""
    text = DISPLAY.sub("", FENCE.sub("", text))
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*:|#]|\d+\.)\s?)", text):
        part = LINK.sub(r"\1", part)
        if part.lstrip().startswith("|"):
            yield from part.split("|")
        else:
            yield re.sub(r"^\s*(?:[-*:#>]+|\d+\.)\s", "", part)


def sentences(text: str) -> Iterator[str]:
    """Yield sentences; a colon ends one, a semicolon does not."""
    for block in blocks(text):
        plain = INLINE.sub("CODE", block)
        yield from END.split(" ".join(plain.split()))


def words(sentence: str) -> int:
    """Count the words of a sentence."""
    return len([word for word in sentence.split() if re.search(r"\w", word)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_read_aloud(page: Path) -> None:
    text = page.read_text()
    lines = enumerate(text.splitlines(), 1)
    wide = [f"{n}: {len(line)} characters" for n, line in lines if len(line) > COLUMNS and not UNBREAKABLE.match(line)]
    assert not wide, "\n".join(wide)
    long = [f"{words(s)} words: {s}" for s in sentences(text) if words(s) > WORDS]
    assert not long, "\n".join(long)
