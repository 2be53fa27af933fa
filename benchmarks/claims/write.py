"""Put the page, its pictures and the README's lines where they belong."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.claims import curve_pictures
from benchmarks.claims.overview import deciding
from benchmarks.claims.page import ALL_CLAIMS, COMMAND, headline, page, sections_of
from benchmarks.claims.pictures import can_draw, draw_against, draw_claims, save
from benchmarks.claims.section import Section, picture_name
from benchmarks.claims.words import paragraph
from morl_recipes.analysis.datasets import Dataset, find_dataset, names

PAGE, PICTURES, README = "docs/does_it_hold.md", "docs/pictures/hold", "README.md"
ALT = "Every claim of the paper: our lead with its interval, and the paper's"
BEGIN, END = f"<!-- begin: made by {COMMAND} -->", "<!-- end -->"


def datasets_of_package() -> list[Dataset]:
    """Read every dataset that comes with the package."""
    return [find_dataset(name) for name in names()]


def write_all(root: Path, datasets: Sequence[Dataset] | None = None) -> list[Path]:
    """Write the page, the pictures and the lines of the README; pictures of tables that are gone are removed.

    Args:
        root: The project's root.
        datasets: By default those of the package.

    Returns:
        What was written.
    """
    datasets = datasets_of_package() if datasets is None else datasets
    sections = sections_of(datasets)
    pictures = [path for section in sections for path in _draw(section, root / PICTURES)]
    judged = list(deciding(sections).values())
    if judged:
        pictures.append(root / PICTURES / ALL_CLAIMS)
        save(draw_claims(judged), pictures[-1])
    for stale in set((root / PICTURES).glob("*.png")) - set(pictures):
        stale.unlink()
    (root / PAGE).write_text(page(sections, "pictures/hold"), encoding="utf-8")
    readme = root / README
    if readme.exists():
        readme.write_text(with_lines(readme.read_text(encoding="utf-8"), sections), encoding="utf-8")
    return [root / PAGE, *pictures, *([readme] if readme.exists() else [])]


def _draw(section: Section, folder: Path) -> list[Path]:
    made = []
    for study in section.results.studies:
        if can_draw(study):
            made.append(folder / picture_name(section, study))
            title = f"{study.env}, {study.group}, {section.steps[study.env]:,} steps"
            save(draw_against(study, title), made[-1])
    for env in curve_pictures.environments(section):
        made.append(folder / curve_pictures.picture_name(section, env))
        save(curve_pictures.draw_curves(section, env), made[-1])
    return made


def with_lines(text: str, sections: Sequence[Section]) -> str:
    """Return the README with its lines between the two marks made anew; one without marks stays as it is."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return text
    return f"{before}{BEGIN}\n\n{lines(sections)}\n\n{END}{after}"


def lines(sections: Sequence[Section]) -> str:
    """Return a few sentences with the link, and the picture of all claims where any is judged."""
    said = paragraph(*headline(sections, PAGE))
    picture = f'<img src="{PICTURES}/{ALL_CLAIMS}" width="400"\nalt="{ALT}">'
    return "\n\n".join([said, picture] if deciding(sections) else [said])
