import subprocess
import sys

import pytest

from morl_recipes.cli import main
from morl_recipes.cli.listing import ROWS_TEXT, show_rows


def test_everything_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "36 recipes of the paper in 9 groups, 18 of our own, and 6 other readings of it." in out
    assert "mo-humanoid-v5" in out
    for line in (
        "No Decay                   mu.base = Fixed(mu=10.0)",
        "kappa = 0.2                mu.threshold = 0.2",
        "rho=0.8                    scalarizer.maintenance = 0.8",
        "Shared Weighted            critic.critic = Shared()",
        "No PCGrad                  advantage = Scalarised()",
        "  stealth                       score, stealth, exploration; 30 observations, 2-d actions, 400 steps,",
    ):
        assert line in out


def test_single_groups_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "lambda", "Linear"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len([line for line in out if line.startswith("  ")]) == 4
    assert "PASTA as published" in out[1]


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["list"]) == 0
    assert "(not installed: pip install 'morl-blocks[mujoco]')" in capsys.readouterr().out


def test_lines_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    whole = capsys.readouterr().out
    assert max(map(len, whole.splitlines())) > 100
    assert "1 preferences" not in whole
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    folded = capsys.readouterr().out
    assert max(map(len, folded.splitlines())) <= 80
    assert folded.split() == whole.split()


def test_stored_text_equals_the_description_of_the_rows() -> None:
    """After a change of the rows: python -m morl_recipes.cli.listing"""
    assert ROWS_TEXT.read_text() == show_rows(()) + "\n"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("from morl_recipes.cli import main; main(['list'])", ("torch", "pandas")),
        ("from morl_recipes.cli import main; main(['train', '--help'])", ("torch", "pandas")),
        ("from morl_recipes import train", ("torchrl", "tensordict", "mo_gymnasium", "matplotlib")),
    ],
)
def test_heavy_packages_are_loaded_when_they_are_needed(code: str, absent: tuple[str, ...]) -> None:
    check = f"import sys; {code}; sys.exit(', '.join(name for name in {absent} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
