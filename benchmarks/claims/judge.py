"""When a claim holds: one rule for all of them."""

import math
from typing import Literal, TypeAlias

from morl_blocks.metrics import Interval

UNTRAINED: Literal["not trained at full length yet"] = "not trained at full length yet"
"""What a claim outside stealth is called until its rows are trained at full length; no verdict."""
Verdict: TypeAlias = Literal[
    "holds",
    "weaker",
    "cannot be told apart",
    "reversed",
    "not trained here",
    "not trained at full length yet",
]
ORDER: tuple[Verdict, ...] = ("reversed", "cannot be told apart", "weaker", "holds")
"""From the worst for a claim to the best."""
AHEAD: tuple[Verdict, ...] = ("weaker", "holds")
"""The verdicts of a lead above 0."""
RULE = (
    "A claim says that one row is ahead of another. The lead is the paired difference of their scores, with its 95 % "
    "interval. Like the paper, we state it in per cent of the second row's score.",
    "**holds**: the interval lies above 0 and reaches the paper's lead of the same two rows in per cent.",
    "**weaker**: it lies above 0 and ends below the paper's lead.",
    "**reversed**: it lies below 0, even when widened for the number of leads in the claim (Bonferroni).",
    "**cannot be told apart**: anything else.",
    "In a claim about several rows, the lead that is worst for the claim decides and is shown: the worst verdict, then "
    "the smallest lead. The number of leads above 0 is shown beside it.",
)
FULL_LENGTH_RULE = (
    "Claims about other environments than stealth are judged at full length alone, 999,424 steps. Until all rows that "
    f"are planned for a claim are trained, it reads *{UNTRAINED}*. That is no verdict. So *reversed* means there that "
    "the whole widened interval of trainings of full length lies below 0.",
    "There, each claim is judged twice. HV is the paper's measure. EU, the expected utility, is the return weighted by "
    "the preference that was asked for. EU has no natural zero, so its leads are stated in its own units, and no claim "
    "is called *weaker* by it.",
)


def judge(lead: Interval, share: Interval, printed: float, worst: float | None = None) -> Verdict:
    """Judge one lead.

    Args:
        lead: The paired difference with its interval: the row that shall be ahead minus the other.
        share: The same as a share of the other row's score.
        printed: The paper's lead as a share; NaN where it prints none or has another scale, and then nothing is called
            weaker.
        worst: Upper end of the interval when it is widened for the number of leads in the claim; by default, for a
            single one, that of the lead.

    Example:
        >>> lead = Interval(0.05, 0.03, 0.07)
        >>> judge(lead, Interval(0.2, 0.1, 0.28), printed=0.30), judge(lead, Interval(0.2, 0.1, 0.32), printed=0.30)
        ('weaker', 'holds')
        >>> behind, share = Interval(-0.02, -0.03, -0.01), Interval(-0.08, -0.12, -0.04)
        >>> judge(behind, share, 0.30, worst=0.01), judge(behind, share, math.nan)
        ('cannot be told apart', 'reversed')
    """
    if math.isnan(lead.low):
        return "not trained here"
    if (lead.high if worst is None else worst) < 0:
        return "reversed"
    if lead.low <= 0:
        return "cannot be told apart"
    return "weaker" if share.high < printed else "holds"
