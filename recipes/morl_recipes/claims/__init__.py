"""Does it hold? The paper's claims against the tables that were trained here."""

from morl_recipes.claims._claims import CLAIMS, Claim
from morl_recipes.claims._findings import Finding, Lead, examine, find_lead
from morl_recipes.claims._judge import Verdict, judge
from morl_recipes.claims._rows import Row, Rows

__all__ = ["CLAIMS", "Claim", "Finding", "Lead", "Row", "Rows", "Verdict", "examine", "find_lead", "judge"]
