"""Numbers and paragraphs as the page prints them."""

import math
import textwrap
from collections.abc import Iterable, Sequence

from benchmarks.claims.findings import Lead
from morl_blocks.metrics import Interval
from morl_recipes.analysis.tables.cells import GAP
from morl_recipes.common.scores import HYPERVOLUME, Score

WIDTH = 120
LARGEST = 10


def paragraph(*sentences: str) -> str:
    """Join sentences and break lines as the house does."""
    return textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def items(texts: Iterable[str]) -> str:
    """Return a list."""
    look = {"initial_indent": "- ", "subsequent_indent": "  "}
    return "\n".join(
        textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False, **look)  # type: ignore[arg-type]
        for text in texts
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; a bar inside a cell would end it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def listed(parts: Sequence[str]) -> str:
    """Join words as one says them.

    Example:
        >>> listed(["one"]), listed(["one", "two", "three"])
        ('one', 'one, two and three')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def per_cent(share: float) -> str:
    """Print a share in whole per cent; of next to nothing, only how large it is at least.

    Example:
        >>> per_cent(0.3127), per_cent(-0.004), per_cent(-49.7), per_cent(math.nan)
        ('31 %', '0 %', 'below -1000 %', '—')
    """
    if abs(share) > LARGEST:
        return f"{'above ' if share > 0 else 'below -'}{100 * LARGEST} %"
    return GAP if math.isnan(share) else f"{round(100 * share) + 0} %"


def shares(interval: Interval) -> str:
    """Print a share with its interval.

    Example:
        >>> shares(Interval(0.087, -0.097, 0.271))
        '9 % [-10, 27]'
    """
    ends = ", ".join(per_cent(end).removesuffix(" %") for end in (interval.low, interval.high))
    return per_cent(interval.estimate) + ("" if math.isnan(interval.low) else f" [{ends}]")


def digits_of(score: Score) -> int:
    """Return the digits after the point: of utilities, which are raw returns, fewer."""
    return score.digits if score.needs_bounds else 2


def signed(interval: Interval, digits: int = 3) -> str:
    """Print a difference with its interval.

    Example:
        >>> signed(Interval(0.0171, -0.004, 0.038)), signed(Interval(17.1, -4.0, 38.0), 1)
        ('+0.017 [-0.004, +0.038]', '+17.1 [-4.0, +38.0]')
    """
    if math.isnan(interval.estimate):
        return GAP
    ends = "" if math.isnan(interval.low) else f" [{interval.low:+.{digits}f}, {interval.high:+.{digits}f}]"
    return f"{interval.estimate:+.{digits}f}{ends}"


def unsigned(interval: Interval, digits: int = 3) -> str:
    """Print a score with its interval.

    Example:
        >>> unsigned(Interval(0.2491, 0.232, 0.2651)), unsigned(Interval(math.nan, math.nan, math.nan))
        ('0.249 [0.232, 0.265]', '—')
    """
    ends = "" if math.isnan(interval.low) else f" [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    return GAP if math.isnan(interval.estimate) else f"{interval.estimate:.{digits}f}{ends}"


def lead_words(lead: Lead, score: Score = HYPERVOLUME) -> str:
    """Print our lead, over whom and of whose score; of a score with a natural zero in per cent, too."""
    digits, share = digits_of(score), f"{per_cent(lead.share.estimate)} " * score.needs_bounds
    return f"{signed(lead.ours, digits)}, {share}of {lead.level:.{digits}f}, {pair_words(lead)}"


def printed_words(lead: Lead | None, *, same_scale: bool) -> str:
    """Print the paper's lead likewise."""
    if lead is None:
        return "no number printed"
    scale = "" if same_scale else " (on its own scale)"
    share = f"{per_cent(lead.printed_share)} of {lead.printed_level:.3f}"
    return f"{lead.printed:+.3f}, {share}, {pair_words(lead)}{scale}"


def pair_words(lead: Lead) -> str:
    """Say who is compared: ``over Linear``, and who is ahead where it is not PASTA."""
    first, second = lead.names
    return f"over {second}" if first == "PASTA" else f"{first} over {second}"
