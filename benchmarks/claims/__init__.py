"""Does it hold? The paper's claims against the tables that were trained here."""

from benchmarks.claims.claims import CLAIMS, Claim
from benchmarks.claims.findings import Finding, Lead, examine, find_lead
from benchmarks.claims.judge import Verdict, judge
from benchmarks.claims.rows import Row, Rows

__all__ = ["CLAIMS", "Claim", "Finding", "Lead", "Row", "Rows", "Verdict", "examine", "find_lead", "judge"]
