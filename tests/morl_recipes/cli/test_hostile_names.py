"""Names from somebody's file command nothing: every command is walked with a hostile store, recipe and environment."""

import ast
import contextlib
import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import morl_recipes
from morl_recipes import Front
from morl_recipes.cli import main
from morl_recipes.common.text import LOG
from morl_recipes.recipe.run import Run
from morl_recipes.store.files import seal
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fakes import fake_record

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07name",
    "two\nforged\r\x85and\u2028more",
    "=cmd|'/c calc'!A1",
    "@SUM(1)",
    "-1+1",
    " +1",
    "\t=1",
    "[10pt] row",
    "\\input{/etc/passwd} $\\evil$",
    "[me](javascript:alert(1)) http://x",
    "<evil href='http://x'>me</evil><script>evil</script>",
    "abc\u202egnp.exe\u200b",
    "a | b",
]
OBJECTIVES = (HOSTILE[2], f"{HOSTILE[0]}\nforged $\\evil$ <evil>")
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
WORLD = f"""
import gymnasium, numpy as np

class World(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    horizon = 8
    action_space = gymnasium.spaces.Discrete(2)
    reward_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    objectives = {OBJECTIVES!r}
    def reset(self, seed=None, options=None):
        self.clock = 0
        return np.zeros(2, np.float32), {{}}
    def step(self, action):
        self.clock += 1
        return np.zeros(2, np.float32), np.array([action, 1.0 - action]), False, self.clock >= 8, {{}}

def make_env():
    return World()
"""
ROWS = f"""
from morl_recipes import PASTA
from morl_recipes.recipe.specs import Fixed
from dataclasses import replace
rows = {{name: replace(PASTA, mu=Fixed(1.0 + k)) for k, name in enumerate({HOSTILE!r})}}
"""
SHORT = ["--total-steps", "64", "--num-envs", "2", "--eval-episodes", "1", "--test-episodes", "1", "--quiet"]
SHORT += [
    word for key in ("steps_per_iteration=64", "minibatch_size=64", "epochs=1") for word in ("--set", f"ppo.{key}")
]
FORMATS, KINDS = ("terminal", "markdown", "csv", "latex"), ("summary", "preferences", "following")


def made_up(folder: Path) -> Path:
    """Write a store whose environments, groups, methods and objectives have hostile names, and one damaged run."""
    runs = tuple(
        Run({}, (0.5, 0.5), seed, f"r{k}-{seed}", HOSTILE[-1 - k // 7], name, HOSTILE[k // 7], 100)
        for k, name in enumerate(HOSTILE)
        for seed in range(1 + (k < 2))
    )
    infos = {name: EnvInfo(OBJECTIVES, (0.0, -60.0), (10.0, 0.0)) for name in HOSTILE[:2]}
    store = Store.create(folder, Manifest(HOSTILE[0], infos, runs, {name: name for name in HOSTILE}))
    for run in runs:
        store.write(replace(fake_record(run), policy={}))
    return folder


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every command prints and writes, by command or file."""
    base = tmp_path_factory.mktemp("hostile")
    (base / "evil_world.py").write_text(WORLD)
    (base / "evil_rows.py").write_text(ROWS)
    world, rows, own, front = f"{base}/evil_world.py:make_env", f"{base}/evil_rows.py", f"{base}/own", f"{base}/front"
    theirs, texts = str(made_up(base / "theirs")), dict[str, str]()

    def ask(*words: str, code: int = 0) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            found = main([*words])
        assert found == code, out.getvalue()
        texts[" ".join(words).replace(str(base), "")] = out.getvalue()

    ask("list", rows)
    ask("sweep", "--rows", rows, "--envs", world, "--dry-run", *SHORT, "--out", f"{base}/dry")
    ask("train", rows, "--env", world, "--out", own, *SHORT)
    ask("front", "--env", world, "--preferences", "2", "--out", front, *SHORT)
    for form in FORMATS:
        ask("diff", theirs, theirs, "--format", form)
        for kind in KINDS:
            ask("table", theirs, "--format", form, "--kind", kind)
    for folder in (own, theirs):
        ask("report", folder, "--title", HOSTILE[10])
        ask("verify", folder)
    ask("figures", theirs, "--formats", "svg")
    ask("play", theirs, "--run", "\x1b[2J=1", code=2)
    ask("play", own, "--env", world, "--episodes", "1")
    ask("test", own, "--env", world, "--episodes", "1")
    ask("export", own, "--env", world, "--out", f"{base}/policy.onnx")
    ask("export", own, "--env", world, "--hub", f"{base}/hub_markdown")
    for run in ("r0-0", "r1-0"):
        path = Path(theirs, "runs", run, "run.json")
        path.write_bytes(seal({**json.loads(path.read_bytes()), "method": HOSTILE[0], "status": HOSTILE[1]}))
    ask("verify", theirs, code=1)
    ask("table", theirs)
    loaded = Front.load(front)
    texts["str(Front.load)"] = str(replace(loaded, env=HOSTILE[0], method="".join(HOSTILE)))
    for path in base.rglob("*"):
        if path.suffix in (".html", ".svg", ".csv", ".md") and path.name != "history.csv":
            texts[str(path.relative_to(base))] = path.read_text()
    return texts


def test_no_raw_control_character_leaves(walk: dict[str, str]) -> None:
    from morl_recipes.analysis.report import offline

    script = offline.plotly_script()
    found = {name: RAW.findall(text.replace(script, "")) for name, text in walk.items()}
    assert not {name: signs[:3] for name, signs in found.items() if signs}
    assert not [name for name, text in walk.items() if re.search(r"^forged", text, re.MULTILINE)]


def test_no_cell_is_a_formula_and_numbers_stay_numbers(walk: dict[str, str]) -> None:
    tables = {name: text for name, text in walk.items() if "csv" in name.rpartition(" --kind")[0] + name[-4:]}
    assert len(tables) == 5
    for name, text in tables.items():
        rows = list(csv.reader(io.StringIO(text)))
        for cell in (cell for row in rows for cell in row):
            assert not cell.lstrip().startswith(("=", "+", "@")), name
            assert not cell.lstrip().startswith("-") or float(cell) < 0, name
    assert any(
        cell.startswith("-") for text in tables.values() for row in csv.reader(io.StringIO(text)) for cell in row
    )


def test_no_tag_and_no_command_leaves(walk: dict[str, str]) -> None:
    for name, text in walk.items():
        if name.endswith(".svg"):
            assert not [one for one in ET.fromstring(text).iter() if "evil" in one.tag or one.text == "evil"]
        elif name.endswith(".html"):
            assert "<evil" not in text
            assert "<script>evil" not in text
            assert "\\u003cevil" not in text
        elif "markdown" in name:
            assert not re.search(r"(?<!\\)\[[^]]*\]\(|(?<!\\)<\w|http://", text)
        elif "latex" in name:
            assert "\\input" not in text
            assert not re.search(r"\\\\\n\s*[\[*]", text)


def test_nothing_else_prints_or_writes_csv_or_has_a_logger() -> None:
    folder = Path(morl_recipes.__file__).parent
    numbers = {"store/history.py", "store/record.py"}  # of the store: their columns are fixed
    way = re.compile(r"(print|csv\.\w*[wW]riter|sys\.std\w+\.write)\(|.*\.to_csv\(|.*getLogger\('morl")
    for path in folder.rglob("*.py"):
        calls = [ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        if path.relative_to(folder).as_posix() not in {"common/text.py", *numbers}:
            assert not list(filter(way.match, calls)), path


def test_what_is_logged_is_one_clean_line(caplog: pytest.LogCaptureFixture) -> None:
    LOG.warning("%s is not %s.", *HOSTILE[:2])
    assert caplog.messages == ["[2J]0;ownedname is not two forged and more."]
