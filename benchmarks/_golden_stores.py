"""Small stores of version 0.2, finished and interrupted, that later versions must read and continue."""

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks._golden_trainings import front_recipe
from morl_recipes import train_front
from morl_recipes.cli import main

STORES = Path(__file__).parents[1] / "tests" / "golden" / "stores"
SETS = ("ppo.steps_per_iteration=64", "ppo.epochs=2", "ppo.minibatch_size=16", "actor.hidden=4")
COMMON = ["--seeds", "0", "--num-envs", "2", "--total-steps", "1024", "--eval-every", "4", "--eval-episodes", "2"]
COMMON += ["--preferences", "0.2,0.2,0.6", "0.1,0.7,0.2", "--test-episodes", "2", "--checkpoint-every", "2", "--quiet"]
COMMON += [word for change in SETS for word in ("--set", change)]
COMMANDS = {
    "train": ["train", "PASTA", "--env", "stealth", *COMMON, "--set", "critic.critic.hidden=4"],
    "sweep": ["sweep", "--rows", "Linear", "Tchebycheff", "--envs", "stealth", *COMMON, "--set", "critic.hidden=4"],
}
COMMANDS["sweep"] += ["--workers", "1", "--population", "3"]
FRONT: dict[str, Any] = {"preferences": 5, "total_steps": 1024, "num_envs": 2, "eval_every": 4, "eval_episodes": 2}
FRONT |= {"checkpoint_every": 2, "progress": False, "normalize_observations": False}
NAMES = ("train", "sweep", "front")
NEVER = 300.0
"""Seconds after which a training that was to be interrupted is given up."""


def train_one(name: str, out: Path) -> None:
    """Train, or continue, what a fixture was made of."""
    torch.set_num_threads(1)
    if name == "front":
        train_front(front_recipe(hidden=4), "stealth", out=out, resume=True, accept_versions=True, **FRONT)
    elif (code := _call([*COMMANDS[name], "--accept-versions", "--out", str(out)])[0]) != 0:
        raise RuntimeError(f"`morl-blocks {name}` ended with exit code {code}.")


def printed(*words: str) -> str:
    """Return what a command prints; a failure raises."""
    code, text = _call(list(words))
    if code:
        raise RuntimeError(f"`morl-blocks {' '.join(words)}` ended with exit code {code}.")
    return text


def _call(words: list[str]) -> tuple[int, str]:
    text = io.StringIO()
    with redirect_stdout(text):
        code = main(words)
    return code, text.getvalue()


def contents(folder: Path) -> dict[str, str]:
    """Return the digest of every file with numbers: histories, policies, and the points of a front."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name in ("history.csv", "policy.safetensors") or re.fullmatch(r"policies-.*\.safetensors", path.name):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        elif path.name in ("run.json", "front.json"):
            kept = {key: value for key, value in json.loads(path.read_text()).items() if key not in CHANGING}
            found[name] = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]
    return found


CHANGING = ("versions", "digest", "schema")
"""Keys of a record that say who wrote it, or follow from that."""


def read(name: str, folder: Path = STORES) -> dict[str, Any]:
    """Return what ``table``, ``verify`` and ``play`` say of a finished fixture, as bytes or numbers."""
    store = folder / name / "store" if name == "front" else folder / name
    verified = printed("verify", str(store))
    played = printed("play", str(store), "--episodes", "2")
    return {
        "table": [] if name == "front" else printed("table", str(store), "--format", "csv").splitlines(),
        "verify": [int(number) for number in re.findall(r"\b\d+\b", verified.partition(": ")[2])],
        "play": [float(number) for number in re.findall(r"-?\d+\.\d+", played)],
    }


def resume(name: str, folder: Path = STORES) -> dict[str, str]:
    """Continue a copy of an interrupted fixture to its end."""
    with TemporaryDirectory() as place:
        out = Path(place) / "store"
        shutil.copytree(folder / f"{name}-interrupted", out)
        train_one(name, out)
        return contents(out)


def record(folder: Path = STORES) -> None:
    """Make all fixtures anew, from the code as it is."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in NAMES:
        for suffix in ("", "-interrupted"):
            out = folder / f"{name}{suffix}"
            _in_process_of_its_own(name, out, kill=bool(suffix))
            for path in out.rglob("*.lock"):
                path.unlink()


def _in_process_of_its_own(name: str, out: Path, *, kill: bool) -> None:
    """Train in another process, which is killed in the middle if it is to be."""
    code = "from pathlib import Path; from benchmarks._golden_stores import train_one; "
    code += f"train_one({name!r}, Path({str(out)!r}))"
    command = [sys.executable, "-c", f"if __name__ == '__main__':\n    {code}"]
    with subprocess.Popen(command, start_new_session=True) as process:
        end = time.monotonic() + NEVER
        while kill and process.poll() is None and not _half(name, out) and time.monotonic() < end:
            time.sleep(0.001)
        if kill:
            if process.poll() is not None:
                raise RuntimeError(f"The training of {name!r} ended before it was killed.")
            os.killpg(process.pid, signal.SIGKILL)
        if process.wait() != 0 and not kill:
            raise RuntimeError(f"The training of {name!r} failed.")


def _half(name: str, out: Path) -> bool:
    """Whether a training has a checkpoint and, of a sweep, a population that is done."""
    runs = name != "sweep" or len(list(out.glob("runs/*/run.json"))) >= 2
    for path in out.rglob("history.csv"):
        if path.parent.parent.name == "checkpoints" and runs:
            return path.with_name("checkpoint.safetensors").exists() and path.read_text().count("\n") > 8
    return False
