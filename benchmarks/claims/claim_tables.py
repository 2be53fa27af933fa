"""The claims about one dataset: what decides each, and what other policies of the same runs say."""

from benchmarks.claims.findings import Finding
from benchmarks.claims.section import MISSING, Section
from benchmarks.claims.words import items, lead_words, pair_words, printed_words, signed, table
from morl_recipes.analysis.tables.cells import GAP

HEADS = (
    "Claim of the paper",
    "Its smallest lead, as printed",
    "Here, the lead that decides",
    "Leads above 0",
    "Verdict",
)


def claims_table(section: Section) -> str:
    """Return one line per claim of which rows were planned: the paper's number, ours, and the verdict."""
    lines, shown = [], [one for one in section.findings if _planned(section, one)]
    for finding in shown:
        lead, scale = finding.decisive, section.rows[finding.claim.env].same_scale
        done, every = finding.rows
        partly = f" ({done} of {every} rows)" if 0 < done < every and lead is not None else ""
        ours = f"{done} of {every} rows trained" if lead is None else lead_words(lead) + partly
        verdict = MISSING if lead is None else f"**{finding.verdict}**"
        printed = printed_words(finding.printed, same_scale=scale)
        above = GAP if lead is None else f"{finding.above} of {len(finding.leads)}"
        lines.append([finding.claim.text, printed, ours, above, verdict])
    notes = list(dict.fromkeys(one.claim.note for one in shown if one.claim.note))
    body = table(HEADS, lines)
    return "\n\n".join([body, items(notes)]) if notes else body


def _planned(section: Section, finding: Finding) -> bool:
    """Tell whether the dataset shall hold both rows of any of a claim's pairs."""
    rows = section.rows[finding.claim.env]
    return any(all(rows.runs(row)[1] for row in pair) for pair in finding.claim.pairs)


def otherwise(section: Section) -> str:
    """Return the same claims by best validations, as the paper reports them, and by last policies."""
    both = [one for one in zip(section.by_peak, section.by_last, strict=True) if _planned(section, one[0])]
    lines = [[peak.claim.text, _otherwise(peak), _otherwise(last)] for peak, last in both]
    return table(("Claim of the paper", "By best validations", "By last policies"), lines)


def _otherwise(finding: Finding) -> str:
    """Say what another reading of the runs gives: the lead that decides, and the verdict."""
    lead = finding.decisive
    return GAP if lead is None else f"{signed(lead.ours)}, {pair_words(lead)}: {finding.verdict}"
