"""Read the folder of one run, whose files must be undamaged and belong to it, and add test scores to it."""

import json
import os
import warnings
from collections.abc import Collection, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import IDENTITY, Run
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, seal, unseal
from morl_recipes.store.manifest import SCHEMA
from morl_recipes.store.shapes import HISTORY, POLICY, TEST_POINTS, check_run, check_tests

RUN, TEST = "run.json", "test.json"


class Rows(NamedTuple):
    """Rows of a history: names of the columns, and numbers ``[rows, columns]``."""

    columns: tuple[str, ...]
    numbers: NDArray[np.float64]


def again(folder: Path) -> str:
    """Return the advice about a damaged run."""
    return f"Remove the folder {folder}: the same sweep then trains this run again."


def read_fields(folder: Path, planned: Run) -> dict[str, Any]:
    """Return the fields of a run's ``run.json``; damaged files and those of another run raise :class:`StoreError`."""
    path = folder / RUN
    fields = unseal(path, schema=SCHEMA, advice=again(folder))
    problem = check_run(fields)
    if problem is not None:
        raise StoreError(f"{path}: damaged ({problem}). {again(folder)}")
    for name, expected in zip(IDENTITY, planned.identity, strict=True):
        if fields[name] != (list(expected) if isinstance(expected, tuple) else expected):
            raise StoreError(f"{path}: belongs to another run ({fields['run_id'][:200]}). {again(folder)}")
    for name, expected in fields["files"].items():
        try:
            size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 - thousands of them, and pathlib is slower
        except OSError:
            raise StoreError(f"{folder / name}: missing. {again(folder)}") from None
        if size != expected["bytes"]:
            raise StoreError(f"{folder / name}: damaged ({size} bytes, expected {expected['bytes']}). {again(folder)}")
    return fields


def read_content(folder: Path, fields: Mapping[str, Any], name: str) -> bytes:
    """Return a file of a run after checking its digest."""
    path, expected = folder / name, fields["files"].get(name)
    if expected is None:
        raise StoreError(f"{path}: the run has no such file. {again(folder)}")
    content = read_bytes(path, min(expected["bytes"], LARGEST_FILE), again(folder))
    if digest(content) != expected["sha256"]:
        raise StoreError(f"{path}: damaged (its digest does not match). {again(folder)}")
    return content


def read_policy(folder: Path, fields: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the named tensors of a run's policy; the file must contain the run's id, if it contains any."""
    content = read_content(folder, fields, POLICY)
    try:
        tensors: dict[str, Tensor] = load(content)
        length = int.from_bytes(content[:8], "little")
        owner = json.loads(content[8 : 8 + length]).get("__metadata__", {}).get("run_id")
    except (SafetensorError, ValueError, RecursionError, OverflowError, TypeError, KeyError, AttributeError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise StoreError(f"{folder / POLICY}: damaged (no safetensors: {reason}). {again(folder)}") from error
    if owner not in (None, fields["run_id"]):
        raise StoreError(f"{folder / POLICY}: belongs to another run ({owner}). {again(folder)}")
    return tensors


def read_history(folder: Path, fields: Mapping[str, Any], names: Collection[str] | None = None) -> Rows:
    """Return the history of a run, or some columns of it."""
    content = read_content(folder, fields, HISTORY)
    try:
        return parse(content, names)
    except ValueError as error:
        raise StoreError(f"{folder / HISTORY}: damaged ({str(error)[:200]}). {again(folder)}") from error


def parse(content: bytes, names: Collection[str] | None = None) -> Rows:
    """Read a history exactly, all of it or iteration, steps and ``names``; text in it raises ``ValueError``."""
    head, _, body = content.decode("ascii").partition("\n")
    columns = tuple(head.rstrip("\r").split(","))
    if len(set(columns)) < len(columns) or not {"iteration", "steps"} <= set(columns):
        raise ValueError("its columns must be distinct, with iteration and steps among them")
    lines = body.removesuffix("\n").split("\n") if body else []
    if any(line.count(",") != len(columns) - 1 for line in lines):
        raise ValueError(f"every line must hold {len(columns)} numbers")
    if names is not None:
        kept = [i for i, name in enumerate(columns) if name in {"iteration", "steps", *names}]
        columns, choose = tuple(columns[i] for i in kept), itemgetter(*kept)
        lines = [",".join(choose(line.split(","))) for line in lines]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns about text
        try:
            numbers = np.fromstring(",".join(lines), sep=",").reshape(len(lines), len(columns))
        except DeprecationWarning as warning:
            raise ValueError("it must hold numbers alone") from warning
    counts = numbers[:, [columns.index("iteration"), columns.index("steps")]]
    if not (np.isfinite(counts).all() and (np.abs(counts) < 2**53).all()):
        raise ValueError("iteration and steps must be whole numbers")
    return Rows(columns, numbers)


def write_test(folder: Path, fields: Mapping[str, Any], points: Mapping[str, Any]) -> None:
    """Write the test scores of a run atomically; its other files are not changed."""
    path = atomic_files.inside(folder, TEST)
    own = {"schema": SCHEMA, "run_id": fields["run_id"], "policy": fields["files"].get(POLICY, {}).get("sha256")}
    try:
        atomic_files.replace(path, seal({**own, **points}))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror}). The run itself is untouched.") from error


def read_tests(folder: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``test_peak`` and ``test_final`` of a run, or ``None``; a test that was written later replaces others."""
    path = folder / TEST
    if path.is_file():
        advice = f"Remove the file {path}: `morl-blocks test` writes it again."
        later = unseal(path, schema=SCHEMA, advice=advice)
        tested = fields["files"].get(POLICY, {}).get("sha256")
        if later.get("run_id") != fields["run_id"] or later.get("policy") != tested:
            raise StoreError(f"{path}: belongs to another run ({str(later.get('run_id'))[:200]}). {advice}")
        if (problem := check_tests(later, len(fields["preference"]))) is not None:
            raise StoreError(f"{path}: damaged ({problem}). {advice}")
        fields = later
    return {name: fields.get(name) for name in TEST_POINTS}
