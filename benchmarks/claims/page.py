"""The page "Does it hold?" and the README's lines about it, from the datasets alone."""

import math
from collections import Counter
from collections.abc import Sequence

from benchmarks.claims import course, curve_pictures
from benchmarks.claims.claim_tables import along, claims_table, otherwise
from benchmarks.claims.claims import CLAIMS, FULL_LENGTH
from benchmarks.claims.findings import Lead
from benchmarks.claims.judge import AHEAD, FULL_LENGTH_RULE, RULE, UNTRAINED, Verdict
from benchmarks.claims.overview import Judged, deciding, full_overview, overview, verdicts
from benchmarks.claims.pictures import can_draw, has_printed
from benchmarks.claims.repeat import NOT_YET, REPEAT, RepeatedLead, agreement, leads, repeat
from benchmarks.claims.rows import PASTA
from benchmarks.claims.section import (
    Section,
    facts,
    ingredients,
    levels,
    missing,
    picture_name,
    readings,
    same_results,
    seen,
)
from benchmarks.claims.words import items, listed, pair_words, paragraph, per_cent, shares
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.study import Study
from morl_recipes.common.naming import count
from morl_recipes.common.scores import HYPERVOLUME, UTILITY
from morl_recipes.running.sweep import shipped_sweeps

COMMAND = "python docs/make_does_it_hold.py"
ALL_CLAIMS = "claims.png"
"""File name of the picture of all claims."""
WORDS: dict[Verdict, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "weaker": ("is weaker than printed", "are weaker than printed"),
    "cannot be told apart": ("is not decided", "are not decided"),
    "reversed": ("is reversed", "are reversed"),
    "not trained here": ("is not trained here", "are not trained here"),
}
"""What is said of one claim, and of several; those that wait for full length have no verdict and are counted apart."""


def sections_of(datasets: Sequence[Dataset]) -> list[Section]:
    """Judge every dataset, in the order of the claims, most steps last.

    A dataset that is called like another with ``-repeat`` behind is its repeat on other seeds, and judges nothing.
    """
    named = {dataset.name: dataset for dataset in datasets}
    judged = [dataset for dataset in datasets if not dataset.name.endswith(REPEAT)]
    chosen = [Section.of(dataset, named.get(dataset.name + REPEAT)) for dataset in judged]
    order = list(dict.fromkeys(claim.env for claim in CLAIMS))

    def place(section: Section) -> tuple[int, int, str]:
        known = [order.index(env) for env in section.steps if env in order]
        return min(known, default=len(order)), max(section.steps.values()), section.dataset.name

    return sorted(chosen, key=place)


def headline(sections: Sequence[Section], link: str | None = None) -> list[str]:
    """Say in a few sentences what came out: how much was trained, PASTA's lead, and what became of all claims.

    The lead is that of the dataset that judges most claims; the longer training of two.

    Args:
        sections: The datasets.
        link: Where the claims are, if that is elsewhere.
    """
    judged = [s for s in sections if any(one.judged for one in s.findings)]
    if not judged:
        nothing = "No claim of the paper is fully trained here yet"
        return [f"{nothing if link is None else f'[{nothing}]({link})'}."]
    section = max(judged, key=lambda s: (sum(one.judged for one in s.findings), max(s.steps.values())))
    frames = [one.done for s in sections for one in (s.dataset, s.repeat) if one is not None]
    rows = {(env, row) for s in sections for env, row in s.complete_rows}
    envs = {env for s in sections for env in s.dataset.done["env"]}
    said = [
        f"We trained {len(rows)} rows of the paper's tables and of ours, {sum(map(len, frames)):,} runs in all, in "
        f"{count(len(envs), 'environment')}, and scored them on test episodes."
    ]
    first = section.findings[0]
    if first.decisive is not None:
        said.append(
            f"On {section.title}, the whole interval of PASTA's lead lies above 0 for {first.above} of "
            f"{len(first.leads)} baselines."
        )
        said.append(_decisive(section, first.decisive, first.claim.env))
    counts = Counter(verdicts(sections).values())
    waiting = counts[UNTRAINED]
    claims = f"Of {len(CLAIMS) - waiting} claims"
    said.append(f"{claims if link is None else f'[{claims}]({link})'} {_counted(counts)}.")
    if waiting:
        said.append(f"{waiting} more {'is' if waiting == 1 else 'are'} {UNTRAINED}, and {_have(waiting)} no verdict.")
    return said + _kept(sections) + _by_utility(sections)


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _counted(counts: Counter[Verdict]) -> str:
    """Say how many claims have each verdict."""
    return listed(
        [
            f"{counts[verdict]} {one if counts[verdict] == 1 else several}"
            for verdict, (one, several) in WORDS.items()
            if counts[verdict] or verdict == "holds"
        ]
    )


def _by_utility(sections: Sequence[Section]) -> list[str]:
    """Say what became of the claims at full length, by each of the two scores."""
    both = [deciding(sections, score) for score in (HYPERVOLUME, UTILITY)]
    own = [claim for claim in CLAIMS if claim.at_full_length and all(claim in found for found in both)]
    if not own:
        return []
    told = [_counted(Counter(found[claim].finding.verdict for claim in own)) for found in both]
    judged = f"{count(len(own), 'claim')} {'is' if len(own) == 1 else 'are'} judged so far, at {FULL_LENGTH:,} steps"
    return [f"In other environments, {judged}.", f"By hypervolume, {told[0]}; by expected utility, {told[1]}."]


def _decisive(section: Section, lead: Lead, env: str) -> str:
    """Say how large the lead that decides is, in the paper and on other seeds, where these are known."""
    said = f"The decisive lead is {shares(lead.share)} {pair_words(lead)}"
    if section.rows[env].same_scale and not math.isnan(lead.printed):
        said += f" ({per_cent(lead.printed_share)} in the paper)"
    for one in leads(section):
        if (one.env, lead.pair) == (env, (PASTA, one.row)):
            said += f"; on {one.seeds} other seeds it is {shares(one.share)}"
    return f"{said}."


def _kept(sections: Sequence[Section]) -> list[str]:
    """Say how many leads above 0 do not rest on which policy of a run is taken."""
    ahead = [one for one in deciding(sections).values() if one.finding.verdict in AHEAD]
    if not ahead:
        return []
    last, peak = (sum(one.last.verdict in AHEAD for one in ahead), sum(one.peak.verdict in AHEAD for one in ahead))
    kept = f"{last} remain with last policies and {peak} with best validations"
    return [f"Of the {len(ahead)} that hold or are weaker, {kept}."]


def page(sections: Sequence[Section], pictures: str) -> str:
    """Write the page.

    Args:
        sections: What :func:`sections_of` makes of the datasets.
        pictures: Folder of the pictures, from the page.
    """
    parts = ["# Does it hold?", f"<!-- Made by `{COMMAND}`. Do not edit. -->", paragraph(*headline(sections))]
    parts += ["## Every claim", paragraph(*_read())]
    if deciding(sections):
        parts.append(f"![Every claim: our lead and the paper's]({pictures}/{ALL_CLAIMS})")
    parts += ["### On stealth", overview(sections)]
    parts += [f"### In other environments, {FULL_LENGTH:,} steps", paragraph(*_read_full()), full_overview(sections)]
    parts += ["## What still stands", stands(sections)]
    parts += ["## How a claim is judged", paragraph(RULE[0]), items(RULE[1:5]), paragraph(RULE[5])]
    parts += [*map(paragraph, FULL_LENGTH_RULE), paragraph(*course.RULE), items(_caveats())]
    for section in sections:
        parts += _section(section, pictures)
    parts += ["## Do it again", _again(sections)]
    return "\n\n".join(parts) + "\n"


def _read() -> list[str]:
    """Say how to read the lines of all claims."""
    return [
        "A lead is the difference of two rows, in per cent of the second row's score, with its 95 % interval.",
        "For a claim about several rows, the lead that is worst for the claim is shown.",
        "The paper's lead is that of the same two rows, if it prints one on this scale.",
        "The last column shows verdicts that differ: with other policies of the same runs, or with another training.",
    ]


def _read_full() -> list[str]:
    """Say how to read the lines of the claims outside stealth."""
    return [
        "HV is the paper's hypervolume; EU is the expected utility, the return weighted by the preference.",
        "Leads in EU are in its own units. The paper prints no leads here, or none on this scale.",
    ]


def stands(sections: Sequence[Section]) -> str:
    """Return one sentence per claim whose lead lies above 0, with what other seeds and expected utility say."""
    found, other = deciding(sections), deciding(sections, UTILITY)
    again = [(section, lead) for section in sections for lead in leads(section)]
    lines = [
        f"**{claim.text}**: {one.words} at {one.steps:,} steps; {_looked_again(one, other.get(claim), again)}."
        for claim, one in found.items()
        if one.finding.verdict in AHEAD
    ]
    judged = [claim for claim in found if claim.at_full_length]
    if judged and not any(found[claim].finding.verdict in AHEAD for claim in judged):
        lines.append("None of the claims about other environments that are judged so far stands.")
    return items(lines) if lines else "No claim stands."


def _looked_again(one: Judged, other: Judged | None, again: Sequence[tuple[Section, RepeatedLead]]) -> str:
    """Say what expected utility says of a claim that stands, and what other seeds say, of this length or another."""
    said = [] if other is None else [f"by EU: {other.finding.verdict}"]
    pair = one.finding.claim.env, one.lead.pair
    found = [(section, lead) for section, lead in again if (lead.env, (PASTA, lead.row)) == pair]
    same = [f"the repeat on {lead.seeds} other seeds {agreement(lead.change)}" for s, lead in found if s is one.section]
    elsewhere = [
        f"at {s.steps[lead.env]:,} steps, {lead.seeds} other seeds give {shares(lead.share)}" for s, lead in found
    ]
    return "; ".join([*said, *(same or [NOT_YET + " at this length", *elsewhere])])


def _caveats() -> list[str]:
    return [
        "Scores are test scores: the policy of each run's best validation, played on 100 test episodes. "
        "The paper prints best validations, which are partly luck. Leads are compared in per cent, which removes this "
        "effect if it is the same for both rows.",
        "Best validations, and each run's last policy on test episodes, are judged too. "
        "If they disagree, a verdict depends on which policy of a run is used.",
        "Each seed is one sample for all preferences and rows. Only rows with all of their planned runs are judged, "
        "and only by the seeds of their table: a repeat on other seeds is shown too, but changes no verdict.",
        "Intervals are not corrected for the number of claims: of twenty, about one misses the true value. "
        "The verdict *holds* needs no correction within a claim, because all of its leads must hold.",
        "If a claim was trained twice, the one with most of its rows counts; if both have as many, the longer one.",
        "The paper does not state the number of training steps; the numbers here are ours.",
    ]


def _section(section: Section, pictures: str) -> list[str]:
    parts = [f"## {section.title}", facts(section)]
    absent = missing(section)
    gaps = ["### Not fully trained, and judged nowhere", absent] if absent is not None else []
    if any(finding.judged for finding in section.findings):
        parts += [claims_table(section), "### By other policies of the same runs", otherwise(section)]
    else:
        parts += [paragraph("Too little is trained to judge a claim by it. The rows that are:"), levels(section)]
    changes = along(section)
    parts += ["### Along the training", changes] if changes is not None else []
    for env in curve_pictures.environments(section):
        name = f"{pictures}/{curve_pictures.picture_name(section, env)}"
        parts += [f"![{env}: learning curves]({name})", paragraph(*curve_pictures.caption(section, env))]
    drawn = [study for study in section.results.studies if can_draw(study)]
    if drawn:
        parts += ["### Every table", paragraph(*_drawn(drawn))]
        parts += [f"![{p.env}, {p.group}: each row minus PASTA]({pictures}/{picture_name(section, p)})" for p in drawn]
    for env in section.rows:
        found = {
            "What lies between Linear and PASTA": ingredients(section, env),
            "Other readings of the paper": readings(section, env),
        }
        where = f", {env}" if len(section.rows) > 1 else ""
        for heading, text in found.items():
            parts += [f"### {heading}{where}", text] if text is not None else []
    same = same_results(section)
    parts += ["### Rows that came out the same", same] if same is not None else []
    power = seen(section)
    parts += ["### What could have been seen", _power(), power] if power is not None else []
    parts += gaps
    again = repeat(section)
    return parts + (["### A repeat on other seeds", again] if again is not None else [])


def _drawn(studies: Sequence[Study]) -> list[str]:
    """Say what the pictures show, and what is special about rows whose runs train one policy for all preferences."""
    marked = "ours and, where it prints numbers on the same scale, the paper's"
    said = [f"Each row minus PASTA, {marked if any(map(has_printed, studies)) else 'ours alone'}."]
    if not any(map(has_printed, studies)):
        said.append("The paper prints no numbers here, or none on this scale.")
    if any(method.startswith("Conditioned") for study in studies for method in study.methods):
        said.append("A run of a *Conditioned* row trains one policy for all preferences and is scored on one of them.")
    return said


def _power() -> str:
    return paragraph(
        "The smallest true difference to PASTA that this many seeds would detect in four of five repeats, as the "
        "median over the rows. A smaller one may be detected by luck.",
        "Selection bias is the best validation minus the test score of the same policy, mean over the runs.",
    )


def _again(sections: Sequence[Section]) -> str:
    names = [one.name for section in sections for one in (section.dataset, section.repeat) if one is not None]
    files = [name.replace("-", "_") for name in names]
    commands = [f"$ morl-blocks table --results {name}" for name in names]
    commands += [f"$ morl-blocks sweep {file}" for file in files if file in shipped_sweeps()]
    block = "\n".join(["```console", *commands, f"$ {COMMAND}", "```"])
    text = paragraph(
        "The first commands print the tables, the next ones train them again, the last one makes this page."
    )
    return f"{text}\n\n{block}"
