"""LaTeX tables, put through a real LaTeX where there is one."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from morl_recipes.analysis.tables.render import Kind, render_table
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
PAGE = "\\documentclass{article}\n\\usepackage{booktabs, graphicx}\n\\begin{document}\n%s\\end{document}\n"
STRANGE = (
    "50% & more_#1 ~^\\{x}",
    '[1ex] a "quoted" µ ≥ λ <|> `é` ő 中 --x',
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ…§¶©",
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ\u2212∞",
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_real_latex_prints_every_name(make_store: MakeStore, sweep_type: Any, kind: Kind, tmp_path: Path) -> None:
    sweep = sweep_type(methods={"my_group": ["PASTA", *STRANGE]}, seeds=2, skip=frozenset({("PASTA", 0, 0)}))
    (tmp_path / "page.tex").write_text(PAGE % render_table(make_store(sweep), format="latex", kind=kind))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    printed = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, printed
    for trouble in ("Missing character", "Overfull", "LaTeX Error"):
        assert trouble not in printed


def test_the_caption_says_what_brackets_and_marks_mean(make_store: MakeStore) -> None:
    store = make_store()
    spread = {"summary": (r"$\pm$", "over preferences"), "preferences": (r"$\pm$", "over seeds")}
    for kind in get_args(Kind):
        text = render_table(store, format="latex", kind=kind)
        captions = [line for line in text.splitlines() if line.startswith(r"\caption")]
        assert captions
        for caption in captions:
            for words in ("in brackets", "95", "Bold: the best of its column", *spread.get(kind, ("over seeds",))):
                assert words.lower() in caption.lower()


def test_every_table_can_be_referred_to(make_store: MakeStore) -> None:
    text = render_table(make_store(), format="latex", kind="preferences")
    assert r"\label{tab:stealth-baselines-preference-0.10-0.70-0.20}" in text
    assert text.count(r"\label{") == text.count(r"\begin{table}")
