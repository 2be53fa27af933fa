"""The page and the README's lines, from made-up datasets."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.claims.judge import AHEAD
from benchmarks.claims.overview import deciding, overview, verdicts
from benchmarks.claims.page import headline, page, sections_of
from benchmarks.claims.write import BEGIN, END, write_all
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.recipe.paper import REFERENCE
from morl_recipes.recipe.run import Run
from tests.benchmarks.claims.made_up import made_up, noisy
from tests.docs.test_prose import COLUMNS, UNBREAKABLE, WORDS, sentences, words

NUMBERS = re.compile(r"[+-][0-9.]+")


@pytest.fixture(scope="module")
def everything() -> list[Dataset]:
    """All rows on stealth, some of them not finished, a repeat, and frogger."""
    level = noisy({REFERENCE: 0.62, "Linear": 0.6})
    skipped = {("CAGrad", 1), ("rho=0.8", 0), ("rho=0.8", 1), ("rho=0.8", 2)}
    return [
        made_up(lambda run: None if (run.method, run.seed) in skipped else level(run), name="stealth-200k"),
        made_up(
            noisy({REFERENCE: 0.62, "Linear": 0.6}, seed=1),
            rows=["PASTA", "Linear"],
            seeds=(7, 8, 9),
            name="stealth-200k-repeat",
        ),
        made_up(level, rows=["baselines"], env="frogger", preferences=None, name="quadrotor-300k"),
    ]


@pytest.fixture(scope="module")
def text(everything: list[Dataset]) -> str:
    return _page(everything)


def _page(datasets: list[Dataset]) -> str:
    return page(sections_of(datasets), "pictures/hold")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"before\n\n{BEGIN}\nyesterday\n{END}\n\nafter\n")
    return tmp_path


def test_the_same_data_make_the_same_files(everything: list[Dataset], root: Path) -> None:
    stale = root / "docs/pictures/hold/old.png"
    stale.parent.mkdir(parents=True)
    stale.touch()
    data = [made_up(noisy({REFERENCE: 0.62}), rows=["PASTA", "pcgrad"], name="stealth-200k"), everything[2]]
    made = write_all(root, data)
    first = {path: path.read_bytes() for path in made}
    assert not stale.exists()
    assert set((root / "docs").rglob("*.png")) == {path for path in made if path.suffix == ".png"}
    assert len(made) == 5  # a group of stealth, frogger, all claims, the page, the README
    assert write_all(root, data) == made
    assert {path: path.read_bytes() for path in made} == first
    readme = (root / "README.md").read_text()
    assert readme.startswith(f"before\n\n{BEGIN}\n\n")
    assert readme.endswith(f"{END}\n\nafter\n")
    assert "yesterday" not in readme
    assert readme.count("<img") == 1
    assert (root / readme.partition('src="')[2].partition('"')[0]).exists()


def test_untrained_rows_are_named_beside_their_claims(text: str) -> None:
    assert "| stealth, rho | `rho=0.8 (0 of 6)` |" in text
    assert "| stealth, ours | `CAGrad (4 of 6)` |" in text
    lines: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            lines[line.split("|")[1].strip()] = lines.get(line.split("|")[1].strip(), "") + line
    assert "**not trained here**" in lines["CAGrad in place of PCGrad"]
    assert "(11 of 12 rows)" in lines["Any \N{GREEK SMALL LETTER RHO} beats all baselines"]
    assert lines["PASTA beats all baselines on formation"].endswith("| **not trained here** | — | — | — | — |")
    assert "(on its own scale)" in lines["PASTA beats all baselines on frogger"]
    assert lines["PASTA beats all baselines"].count("**weaker**") == 2  # at a glance, and in the section
    assert "### A repeat on other seeds\n\n12 of 12 planned runs, 2 of 2 rows fully trained, seeds 7 to 9." in text
    assert "not distinguishable" in lines["baselines/Linear"]


def test_rows_without_anything_beside_them_show_their_scores_alone() -> None:
    rows = ["PASTA", "Linear"]
    level = noisy({REFERENCE: 0.62})
    alone = made_up(lambda run: level(run) if run.method == REFERENCE else None, rows=rows, name="alone")
    text = _page([alone])
    assert "Too little is trained to judge a claim by it." in text
    (line,) = [line for line in text.splitlines() if line.startswith(f"| stealth | {REFERENCE} | 0.2")]
    assert line.count("[") == 2
    assert "`Linear (0 of 6)`" in text
    assert "### What could have been seen" not in text


def test_claims_of_unplanned_rows_are_not_listed() -> None:
    glance, _, section = _page([made_up(noisy({REFERENCE: 0.62}), rows=["baselines"])]).partition("\n## stealth")
    assert "| PASTA beats all baselines |" in section
    assert "| The decay helps |" not in section
    assert "| The decay helps | **not trained here** | — | — | — | — |" in glance


def test_low_scores_have_a_note(text: str) -> None:
    assert "little is learnt" not in text
    level = noisy({REFERENCE: 0.4}, default=0.42)  # 0.42 of each of three objectives
    early = made_up(level, rows=["baselines"], name="early")
    assert "The best rows have an HV of 0.07" in " ".join(_page([early]).split())


def test_rows_that_came_out_the_same_are_one_result(text: str) -> None:
    assert "### Rows that came out the same" not in text
    level = noisy({REFERENCE: 0.62})
    twins = made_up(lambda run: 0.5 if run.method in ("No Conflict", "kappa = 0.6") else level(run), name="twins")
    assert "### Rows that came out the same" in (both := _page([twins]))
    assert "\n- No Conflict and kappa = 0.6.\n" in both


def test_page_gives_the_commands_that_reproduce_it(text: str) -> None:
    _, _, commands = text.partition("## Do it again")
    assert "$ morl-blocks table --results stealth-200k-repeat\n" in commands
    assert "$ morl-blocks sweep stealth_200k_repeat\n" in commands
    assert "sweep quadrotor_300k" not in commands  # no such file comes along


def test_repeat_shows_leads_on_its_seeds_and_on_all(text: str) -> None:
    (line,) = [line for line in text.splitlines() if line.startswith("| over Linear")]
    cells = line.split("|")
    published, repeated, together = ([float(x) for x in NUMBERS.findall(cells[place])] for place in (2, 3, 5))
    assert together[0] == pytest.approx((published[0] + repeated[0]) / 2, abs=1e-3)  # three seeds each
    for lead in (published, repeated):
        assert together[2] - together[1] < lead[2] - lead[1]  # six seeds tell more than three


@pytest.mark.parametrize("shared", [True, False])
def test_note_on_shared_seeds_appears_only_for_shared_seeds(shared: bool) -> None:
    def lucky(run: Run) -> float:
        other = run.method != REFERENCE
        return 0.5 + 0.1 * (run.seed % 3 if shared or not other else 2 - run.seed % 3) - 0.02 * other

    both = [
        made_up(lucky, rows=["PASTA", "Linear"], seeds=seeds, name=name)
        for seeds, name in (((0, 1, 2), "x"), ((3, 4, 5), "x-repeat"))
    ]
    said = "have a correlation of 1.00 or more. So a lucky set of seeds lifts all rows"
    text = " ".join(_page(both).split())
    assert (said in text) == shared
    assert ("a lucky set of seeds" in text) == shared


def test_seeds_that_were_published_are_no_repeat(everything: list[Dataset]) -> None:
    again = made_up(noisy({REFERENCE: 0.62, "Linear": 0.6}), rows=["PASTA", "Linear"], name="stealth-200k-repeat")
    assert "| over Linear" not in _page([everything[0], again])


def test_the_page_can_be_read_aloud(text: str) -> None:
    assert not [line for line in text.splitlines() if len(line) > COLUMNS and not UNBREAKABLE.match(line)]
    assert not [sentence for sentence in sentences(text) if words(sentence) > WORDS]


def test_the_headline_has_few_sentences(everything: list[Dataset]) -> None:
    sections = sections_of(everything)
    said = headline(sections, "page.md")
    assert len(said) == 5
    rows, runs = sum(len(s.complete_rows) for s in sections), sum(len(dataset.done) for dataset in everything)
    assert said[0].startswith(f"{rows} rows of the paper's tables and of ours were trained anew, {runs:,} runs in all")
    assert said[0].endswith(" in 2 environments, and judged on fresh episodes.")
    assert said[1].startswith("On stealth, 4,096 steps, PASTA's lead lies above 0, with its whole interval, over 8")
    assert re.fullmatch(
        r"The one that decides is 9 % \[7, 12\] over Linear, where the paper has 46 %; "
        r"on 3 other seeds it is 10 % \[8, 13\]\.",
        said[2],
    )
    assert "other seeds" not in " ".join(headline(sections_of(everything[:1])))
    assert said[3].startswith("[Of 18 claims](page.md) ")
    assert said[3].endswith(" 5 are not trained here.")  # formation and four of MuJoCo


def test_the_headline_counts_the_leads_that_other_policies_keep(everything: list[Dataset]) -> None:
    sections = sections_of(everything[:1])
    ahead = sum(one.finding.verdict in AHEAD for one in deciding(sections).values())
    assert ahead > 1
    words = "Of the {} that hold or are weaker, {} remain by last policies, {} by best validations."
    assert words.format(ahead, ahead, ahead) in headline(sections)
    (behind,) = sections_of([made_up(noisy({REFERENCE: 0.3, "Linear": 0.6}), name="stealth-200k")])
    none = replace(sections[0], by_last=behind.findings[:1] * len(sections[0].by_last))
    assert words.format(ahead, 0, ahead) in headline([none])
    assert words.format(ahead, ahead, 0) in headline([replace(sections[0], by_peak=none.by_last)])


def test_reversed_claim_at_low_scores_has_a_note() -> None:
    said = "Reversed are only claims about environments in which little is learnt so far."
    for best, called in ((0.42, True), (0.6, False)):  # of each of three objectives
        data = made_up(noisy({REFERENCE: 0.3}, default=best), rows=["baselines"], name="early")
        assert (said in headline(sections_of([data]))) == called


def test_other_readings_and_trainings_that_disagree_stand_beside_a_claim(everything: list[Dataset]) -> None:
    (whole,) = sections_of(everything[:1])
    (behind,) = sections_of([made_up(noisy({REFERENCE: 0.3}), rows=["PASTA", "Tchebycheff"], steps=8192, name="few")])
    assert "| — |\n" in overview([whole]).splitlines(keepends=True)[2]
    mixed = replace(whole, by_peak=behind.findings, by_last=behind.findings)
    line = overview([mixed, behind]).splitlines()[2]
    others = "by best validations, by last policies, at 8,192 steps: reversed"
    assert line.endswith(f"| 46 % | 4,096 | {others} |")


def test_a_claim_is_judged_by_most_rows_and_then_by_most_steps(everything: list[Dataset]) -> None:
    whole, _, frogger = everything
    behind = noisy({REFERENCE: 0.3, "Linear": 0.6, "Tchebycheff": 0.6})
    few = made_up(behind, rows=["PASTA", "Tchebycheff"], steps=8192, name="stealth-few")
    longer = made_up(behind, rows=["baselines"], steps=8192, name="stealth-longer")
    first = next(iter(verdicts([])))
    assert set(verdicts([]).values()) == {"not trained here"}
    assert verdicts(sections_of([whole, few, frogger]))[first] == "weaker"
    assert verdicts(sections_of([whole, few, longer, frogger]))[first] == "reversed"


def test_without_data_it_says_so(root: Path) -> None:
    write_all(root, [])
    text = (root / "docs/does_it_hold.md").read_text()
    assert "No claim of the paper is fully trained here yet." in text
    assert text.count("**not trained here**") == 18
    assert (
        "[No claim of the paper is fully trained here yet](docs/does_it_hold.md)." in (root / "README.md").read_text()
    )


def test_a_readme_without_marks_is_left_alone(everything: list[Dataset], root: Path) -> None:
    (root / "README.md").write_text("mine\n")
    write_all(root, everything[2:])
    assert (root / "README.md").read_text() == "mine\n"
