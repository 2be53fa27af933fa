from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import publish
from morl_recipes.cli import main


def test_tables_in_every_format(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("terminal", "markdown", "csv", "latex"):
        for kind in ("summary", "preferences"):
            assert main(["table", str(trained), "--format", form, "--kind", kind, "--score", "final"]) == 0
            assert "PASTA" in capsys.readouterr().out


def test_a_folder_without_results_exits_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exports = ["export"] if find_spec("onnx") else []  # without its extra, that is said first
    for command in ["table", "report", "figures", "test", "play", *exports]:
        assert main([command, str(tmp_path)]) == 3
        assert "not a result store (it has no manifest.json)" in capsys.readouterr().err


def test_a_report_is_one_file(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("plotly", reason="the report extra is not installed")
    out = tmp_path / "r.html"
    assert main(["report", str(trained), "--out", str(out), "--title", "Mine"]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert "Mine" in out.read_text()


def test_another_row_to_compare_with(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", str(trained), "--against", "pasta"]) == 0
    assert "PASTA" in capsys.readouterr().out
    assert main(["table", str(trained), "--against", "nobody"]) == 2
    assert "unknown row of these results 'nobody'. Known: PASTA" in capsys.readouterr().err


def test_figures_are_files_that_are_named(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pictures"
    assert main(["figures", str(trained), "--out", str(out), "--formats", "png"]) == 0
    *named, last = capsys.readouterr().out.splitlines()
    assert sorted(named) == sorted(str(path) for path in out.iterdir())
    assert last == f"{len(named)} files in {out}"
    assert main(["figures", str(trained), "--formats", "bmp"]) == 2


def test_results_that_were_published_are_printed_like_a_folder(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.csv"
    publish.main(publish.Args(folders=(trained,), name="mine", out=tmp_path))
    assert f"Next: morl-blocks table --results {path}" in capsys.readouterr().out
    texts = []
    for where in (["--results", str(path)], [str(trained)]):
        assert main(["table", *where, "--score", "final"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    for wrong in ([], [str(trained), "--results", str(path)]):
        assert main(["table", *wrong]) == 2
        assert "needs the folder of results, or --results NAME, and not both" in capsys.readouterr().err
    assert main(["table", "--results", "nobody"]) == 2
    assert "unknown results 'nobody'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["table", "report", "figures", "play", "test"])
def test_the_name_of_a_published_table_is_no_folder(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "stealth-200k"]) == 2
    assert "morl-blocks table --results stealth-200k" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["table", "report", "figures", "diff"])
def test_every_score_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    said = capsys.readouterr().out.replace("\u2502", " ")
    assert "its last policy on fresh episodes (test_final)" in " ".join(said.split())
