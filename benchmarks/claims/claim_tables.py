"""The claims about one dataset: what decides each, and what other policies of the same runs say."""

from benchmarks.claims.findings import Finding
from benchmarks.claims.judgement import Judgement
from benchmarks.claims.section import Section
from benchmarks.claims.words import digits_of, items, lead_words, pair_words, printed_words, signed, table
from morl_recipes.analysis.tables.cells import GAP

CLAIM, PRINTED = "Claim of the paper", "Its smallest lead, as printed"
HEADS = (CLAIM, PRINTED, "Here, the lead that decides", "Leads above 0", "Verdict")


def claims_table(section: Section) -> str:
    """Return one line per claim of which rows were planned: the paper's number, ours, and the verdict by each score."""
    lines, shown = [], [place for place, one in enumerate(section.findings) if _planned(section, one)]
    for place in shown:
        finding = section.findings[place]
        printed = printed_words(finding.printed, same_scale=section.rows[finding.claim.env].same_scale)
        own = [cell for judgement in section.judgements for cell in _cells(judgement, place)]
        lines.append([finding.claim.text, printed, *own])
    heads = list(HEADS)
    if len(section.judgements) > 1:
        labels = [judgement.score.label for judgement in section.judgements]
        three = [(f"{one}: the lead that decides", f"{one} leads above 0", f"Verdict by {one}") for one in labels]
        heads = [CLAIM, PRINTED, *(head for heads_of_score in three for head in heads_of_score)]
    notes = list(dict.fromkeys(note for place in shown if (note := section.findings[place].claim.note)))
    body = table(heads, lines)
    return "\n\n".join([body, items(notes)]) if notes else body


def _cells(judgement: Judgement, place: int) -> list[str]:
    """Return the lead that decides a claim, the number of leads above 0, and the verdict."""
    finding = judgement.findings[place]
    lead, (done, every) = finding.decisive, finding.rows
    if lead is None or not finding.judged:
        return [rows_words(finding), GAP, f"**{finding.verdict}**"]
    partly = f" ({done} of {every} rows)" if done < every else ""
    above = f"{finding.above} of {len(finding.leads)}"
    return [lead_words(lead, judgement.score) + partly, above, f"**{finding.verdict}**"]


def rows_words(finding: Finding) -> str:
    """Say how many rows are trained of those that a claim needs."""
    done, every = finding.rows
    return f"{done} of {done + finding.waiting if finding.claim.at_full_length else every} rows trained"


def _planned(section: Section, finding: Finding) -> bool:
    """Tell whether the dataset shall hold both rows of any of a claim's pairs."""
    rows = section.rows[finding.claim.env]
    return any(all(rows.runs(row)[1] for row in pair) for pair in finding.claim.pairs)


def otherwise(section: Section) -> str:
    """Return the same claims by best validations, as the paper reports them, and by last policies."""
    shown = [place for place, one in enumerate(section.findings) if _planned(section, one)]
    names = ("By best validations", "By last policies")
    labels = [f", {judgement.score.label}" * (len(section.judgements) > 1) for judgement in section.judgements]
    lines = [
        [section.findings[place].claim.text]
        + [_otherwise(found[place], j) for j in section.judgements for found in (j.by_peak, j.by_last)]
        for place in shown
    ]
    return table((CLAIM, *(name + label for label in labels for name in names)), lines)


def _otherwise(finding: Finding, judgement: Judgement) -> str:
    """Say what another reading of the runs gives: the lead that decides, and the verdict."""
    lead, digits = finding.decisive, digits_of(judgement.score)
    if lead is None or not finding.judged:
        return GAP
    return f"{signed(lead.ours, digits)}, {pair_words(lead)}: {finding.verdict}"


def along(section: Section) -> str | None:
    """Return whether the verdicts still change at the end of the training; ``None`` without learning curves."""
    lines = []
    for place, finding in enumerate(section.findings):
        own = [courses[place] for courses in section.courses]
        if finding.judged and own[0].findings:
            last = own[0].findings[-1]
            rows = f"{last.rows[0]} of {last.rows[0] + last.waiting}"
            lines.append([finding.claim.text, rows, *(course.words for course in own)])
    heads = (CLAIM, "Rows with curves", *(f"By {judgement.score.label}" for judgement in section.judgements))
    return table(heads, lines) if lines else None
