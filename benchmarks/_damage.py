"""Ways to damage or craft the files of a store: functions of the store's folder and of a stranger's."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors.torch import save

from morl_recipes.store.files import digest, seal

Damage: TypeAlias = Callable[[Path, Path], None]
FILES = ("manifest.json", "populations.json", "run.json", "history.csv", "policy.safetensors")
HUGE = 40 * 2**30
LINKS = ("tmp", "runs", "checkpoints", ".lock", "populations.json", "manifest.json", "run", "run.json", "history.csv")
DEEP = b"[" * 100_000
ODD: tuple[Any, ...] = (None, True, -1, 1e308, "text", [], {}, [[]], {"a": None}, "\x1b[2J\n=1+1", 2**70)
RUN_FIELDS = ("run_id", "method", "preference", "seed", "status", "steps", "peak", "final", "recipe", "files")
PLAN_FIELDS = ("command", "environments", "runs", "versions", "machine", "training", "plugins")


def first(store: Path) -> Path:
    """Return the folder of the run that is damaged."""
    return min((store / "runs").iterdir())


def place(store: Path, name: str) -> Path:
    """Return where a file of a store is."""
    return store / name if (store / name).exists() or name in FILES[:2] else first(store) / name


def cases(seed: int) -> Iterator[tuple[str, Damage]]:
    """Yield every case with its name."""
    yield from _damaged(random.Random(seed))
    yield from _crafted()
    for name in LINKS:
        yield f"{name}: a link to somebody's file", partial(_link, name=name)


def _damaged(draw: random.Random) -> Iterator[tuple[str, Damage]]:
    for name in FILES:
        for share in range(10):
            yield f"{name}: cut to {share * 10} %", _edit(name, partial(_cut, share=share))
        for _ in range(24):
            where, bit = draw.random(), draw.randrange(8)
            yield f"{name}: bit {bit} at {where:.3f}", _edit(name, partial(_flip, where=where, bit=bit))
        for _ in range(8):
            where, junk = draw.random(), draw.randbytes(16)
            yield f"{name}: junk at {where:.3f}", _edit(name, partial(_insert, where=where, junk=junk))
        yield f"{name}: zeros", _edit(name, lambda data: bytes(len(data)))
        yield f"{name}: lists without end", _edit(name, lambda data: DEEP)
        yield f"{name}: 40 GB", _huge(name)
        yield f"{name}: gone", partial(_gone, name=name)
        yield f"{name}: a folder", partial(_folder, name=name)
        yield f"{name}: a pipe", partial(_pipe, name=name)
    for name in FILES[2:]:
        yield f"{name}: of another run", partial(_copy, name=name)
    yield "a run copied over another", _copy_run
    yield "two runs exchanged", _exchange


def _crafted() -> Iterator[tuple[str, Damage]]:
    """Yield what only somebody can make who computes digests."""
    for field in RUN_FIELDS:
        for value in ODD:
            yield f"run.json: {field} = {value!r}"[:60], _forge(field, value)
    for field in PLAN_FIELDS:
        for value in ODD[3:8]:
            yield f"manifest.json: {field} = {value!r}"[:60], _forge_plan(field, value)
    for header in (b"\xff" * 8, (2**50).to_bytes(8, "little"), (3).to_bytes(8, "little") + b"[[[", wide_policy()):
        yield f"policy.safetensors: crafted, {len(header)} bytes", _policy(header)


def wide_policy() -> bytes:
    """Return a policy of 1.6 MB whose network would take 40 GB."""
    layer = {"trunk.0.weight": torch.zeros(100_000, 4), "mean.bias": torch.zeros(2), "logits.bias": torch.zeros(2)}
    return bytes(
        save({f"{point}.{name}": tensor.clone() for point in ("peak", "final") for name, tensor in layer.items()})
    )


def _edit(name: str, change: Callable[[bytes], bytes]) -> Damage:
    def act(store: Path, theirs: Path) -> None:
        path = place(store, name)
        path.write_bytes(change(path.read_bytes()))

    return act


def _cut(data: bytes, share: int) -> bytes:
    return data[: len(data) * share // 10]


def _gone(store: Path, theirs: Path, name: str) -> None:
    place(store, name).unlink()


def _flip(data: bytes, where: float, bit: int) -> bytes:
    at = int(where * len(data))
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def _insert(data: bytes, where: float, junk: bytes) -> bytes:
    at = int(where * len(data))
    return data[:at] + junk + data[at:]


def _huge(name: str) -> Damage:
    def act(store: Path, theirs: Path) -> None:
        with place(store, name).open("r+b") as file:
            file.truncate(HUGE)  # a hole: it takes no room on the disk

    return act


def _folder(store: Path, theirs: Path, name: str) -> None:
    path = place(store, name)
    path.unlink()
    path.mkdir()


def _pipe(store: Path, theirs: Path, name: str) -> None:
    path = place(store, name)
    path.unlink()
    os.mkfifo(path)


def _copy(store: Path, theirs: Path, name: str) -> None:
    one, other = sorted((store / "runs").iterdir())[:2]
    shutil.copyfile(other / name, one / name)


def _copy_run(store: Path, theirs: Path) -> None:
    one, other = sorted((store / "runs").iterdir())[:2]
    shutil.rmtree(one)
    shutil.copytree(other, one)


def _exchange(store: Path, theirs: Path) -> None:
    one, other = sorted((store / "runs").iterdir())[:2]
    one.rename(store / "aside")
    other.rename(one)
    (store / "aside").rename(other)


def _forge(field: str, value: Any) -> Damage:
    """Change a field as somebody would who can compute a digest."""

    def act(store: Path, theirs: Path) -> None:
        path = first(store) / "run.json"
        path.write_bytes(_sealed({**json.loads(path.read_bytes()), field: value}))

    return act


def _forge_plan(field: str, value: Any) -> Damage:
    def act(store: Path, theirs: Path) -> None:
        path = store / "manifest.json"
        path.write_bytes(_sealed({**json.loads(path.read_bytes()), field: value}))

    return act


def _sealed(fields: dict[str, Any]) -> bytes:
    return seal({name: value for name, value in fields.items() if name != "digest"})


def _policy(content: bytes) -> Damage:
    def act(store: Path, theirs: Path) -> None:
        folder = first(store)
        (folder / "policy.safetensors").write_bytes(content)
        fields = json.loads((folder / "run.json").read_bytes())
        fields["files"]["policy.safetensors"] = {"bytes": len(content), "sha256": digest(content)}
        (folder / "run.json").write_bytes(_sealed(fields))

    return act


def _link(store: Path, theirs: Path, name: str) -> None:
    """Put a link in the place of a file or a folder."""
    path = first(store) if name == "run" else place(store, name)
    target = theirs if path.is_dir() or name in ("tmp", "runs", "checkpoints", "run") else theirs / "thesis.tex"
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)
