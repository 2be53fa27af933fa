"""Every file knows its run: copied, exchanged and crafted files are found, and old stores are read."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from morl_recipes.analysis.tables.render import render_table
from morl_recipes.store.files import digest, seal
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.store import Store
from morl_recipes.store.verify import Verified, verify
from tests.refusals import refused, store_refused

MakeStore = Callable[..., Store]


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store(policy=True)


def folders(store: Store) -> list[Path]:
    return [store.path / "runs" / run_id for run_id in store.run_ids()]


def exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def test_a_run_copied_over_another_is_found_by_name(store: Store) -> None:
    one, other, *_ = folders(store)
    shutil.rmtree(other)
    shutil.copytree(one, other)
    store_refused(rf"{other.name}/run.json: belongs to another run \({one.name}\). Remove the", load_runs, store)
    store_refused("belongs to another run", store.policy, other.name)
    (finding,) = verify(store.path).findings
    assert finding.where == str(other)
    assert "Remove the folder" in str(finding)


def replant(store: Store, name: str, content: bytes) -> Path:
    """Give the first run another file, with a right digest; return the run's folder."""
    folder, *_ = folders(store)
    (folder / name).write_bytes(content)
    fields = json.loads((folder / "run.json").read_text())
    forge(folder, files={**fields["files"], name: entry(content)})
    return folder


def forge(folder: Path, **changes: Any) -> None:
    """Change fields of a run.json as somebody would who can compute a digest."""
    fields = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_bytes(seal({**fields, **changes}))


def entry(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": digest(content)}


def test_a_policy_of_another_run_is_found_even_with_a_right_digest(store: Store) -> None:
    one, other, *_ = folders(store)
    replant(store, "policy.safetensors", (other / "policy.safetensors").read_bytes())
    store_refused(rf"policy.safetensors: belongs to another run \({other.name}\)", store.policy, one.name)


def test_tables_show_a_damaged_run_as_a_gap_with_its_name(store: Store) -> None:
    one, other, *_ = folders(store)
    whole = render_table(store, format="csv")
    exchange(one, other)
    text = " ".join(render_table(store, width=200).split())
    assert f"{one.name}, {other.name}" in text
    assert "2 of 6 runs are damaged and left out" in text
    assert "morl-blocks verify says what to do." in text
    assert render_table(store, format="csv") != whole
    exchange(one, other)
    assert render_table(store, format="csv") == whole


def test_a_whole_store_has_no_findings_nor_have_runs_that_tell_less_of_their_versions(store: Store) -> None:
    one, other, *_ = folders(store)
    versions = store.read(one.name)["versions"]
    assert {"morl-blocks", "gymnasium"} < versions.keys()
    assert versions["torch"] == torch.__version__
    assert verify(store.path) == Verified(store.path, 12, 12, ())
    forge(one, versions={name: versions[name] for name in ("morl-blocks", "torch")})
    forge(other, versions={})
    assert verify(store.path).findings == ()


def test_verify_names_everything_and_what_to_do(store: Store, tmp_path: Path) -> None:
    runs = folders(store)
    (runs[0] / "history.csv").unlink()
    policy = runs[1] / "policy.safetensors"
    policy.write_bytes(policy.read_bytes()[:-1] + b"!")
    forge(runs[2], recipe={"name": "another"})
    forge(runs[3], versions={"torch": "1.0"})
    shutil.copytree(runs[4], store.path / "runs" / "copy of a run")
    shutil.rmtree(store.path / "tmp")
    (store.path / "tmp").symlink_to(tmp_path)
    (store.path / "populations.json").write_text("{}")
    shutil.rmtree(runs[5])
    runs[5].touch()
    found = {Path(finding.where).name: str(finding) for finding in verify(store.path).findings}
    assert "history.csv: missing. Remove the folder" in found[runs[0].name]
    assert "policy.safetensors: damaged (its digest" in found[runs[1].name]
    assert "another recipe than the plan" in found[runs[2].name]
    assert "trained by several versions" in found[store.path.name]
    assert "not a run of this sweep" in found["copy of a run"]
    assert "is a link" in found["tmp"]
    assert "populations.json: not a file of" in found["populations.json"]
    assert "is not a folder" in found[runs[5].name]
    assert len(found) == 8
    nothing = verify(tmp_path / "nothing")
    assert (nothing.planned, nothing.there, nothing.findings[0].where) == (0, 0, str(tmp_path / "nothing"))
    (store.path / "manifest.json").write_text("{")
    (finding,) = verify(store.path).findings
    assert "Restore it from a copy" in str(finding)


def test_runs_of_the_first_version_are_read(store: Store) -> None:
    for folder in folders(store):
        content = safetensors.torch.save(safetensors.torch.load((folder / "policy.safetensors").read_bytes()))
        (folder / "policy.safetensors").write_bytes(content)
        fields = json.loads((folder / "run.json").read_text())
        del fields["versions"]
        fields["files"]["policy.safetensors"] = entry(content)
        (folder / "run.json").write_bytes(seal(fields))
    assert verify(store.path).findings == ()
    assert len(load_runs(store)) == 12
    assert store.policy(store.run_ids()[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"files": []},
        {"files": {"../../manifest.json": {"bytes": 1, "sha256": ""}}},
        {"files": {"history.csv": {"bytes": "many", "sha256": 3}}},
        {"peak": {"returns": "text"}},
        {"peak": None},
        {"final": {"iteration": 1, "steps": 1, "returns": [1.0], "hv": 0.5, "eu": 0.5}},
        {"peak": {"iteration": 1, "steps": 1, "returns": ["a", "b", "c"], "hv": 0.5, "eu": 0.5}},
        {"preference": {}},
        {"preference": [0.5, "a"]},
        {"steps": -1},
        {"steps": 2**53},
        {"test_peak": {"episodes": 1, "returns": [1.0], "returns_se": [1.0]}},
        {"seed": "zero"},
        {"status": ["done"]},
        {"recipe": None},
        {"versions": {"torch": 2}},
        {"method": 5},
    ],
)
def test_crafted_fields_get_a_sentence(store: Store, changes: dict[str, Any]) -> None:
    folder, *_ = folders(store)
    forge(folder, **changes)
    store_refused(rf"{folder.name}/run.json: (damaged|belongs)", load_runs, store)
    render_table(store)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b'{"schema": 1, "a": ' + b'{"a":' * 100_000,
        b'{"schema": 1, "x": NaN}',
        b'{"schema": 1, "x": 1e999}',
        b"\xff",
    ],
)
@pytest.mark.parametrize("name", ["run.json", "manifest.json"])
def test_json_without_end_gets_a_sentence(store: Store, name: str, content: bytes) -> None:
    folder = store.path if name == "manifest.json" else folders(store)[0]
    (folder / name).write_bytes(content)
    store_refused(rf"{name}: damaged", load_runs, store.path)


def test_files_that_are_too_large_or_no_files_are_not_read(store: Store) -> None:
    one, other, third, *_ = folders(store)
    with (one / "run.json").open("r+b") as file:
        file.truncate(40 * 2**30)  # a hole: it takes no room on the disk, but all memory to read
    store_refused(r"run.json: damaged \(42,949,672,960 bytes, at most", store.read, one.name)
    (other / "run.json").unlink()
    os.mkfifo(other / "run.json")
    store_refused(r"run.json: damaged \(no regular file\)", store.read, other.name)
    with (third / "policy.safetensors").open("r+b") as file:
        file.truncate(40 * 2**30)
    fields = json.loads((third / "run.json").read_text())
    fields["files"]["policy.safetensors"]["bytes"] = 40 * 2**30
    forge(third, files=fields["files"])
    store_refused(r"policy.safetensors: damaged \(42,949,672,960 bytes", store.policy, third.name)


HUGE = b'{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}'.ljust(99)
HEADERS = [(2**40, b""), (99_999_999, b"{}"), (2, b"[]"), (8, b"[" * 8), (99, HUGE)]
POLICIES = [b"", b"\xff" * 8, *(length.to_bytes(8, "little") + header for length, header in HEADERS)]
HISTORIES = [
    *(b"", b"a,b\n1,2\n", b"\xff\xfe", b"iteration,steps,steps\n1,2,3\n"),
    *(b"iteration,steps\n" + line for line in (b"1\n", b"1,x\n", b"nan,1\n", b"1,9007199254740992\n", b"1,2,3\n")),
]
CRAFTED = [("policy.safetensors", content) for content in POLICIES] + [("history.csv", one) for one in HISTORIES]


@pytest.mark.parametrize(("name", "content"), CRAFTED)
def test_crafted_files_get_a_sentence(store: Store, name: str, content: bytes) -> None:
    folder = replant(store, name, content)
    read = store.policy if name == "policy.safetensors" else lambda _: load_history(store)
    store_refused(rf"{name}: damaged", read, folder.name)


@pytest.mark.parametrize(
    "changes",
    [
        {"environments": {"stealth": 3}},
        {"machine": None},
        {"environments": {"stealth": {"objectives": "abc", "low": None, "high": None}}},
        {"runs": [1]},
        {"runs": {"a": 1}},
        {"versions": ["torch"]},
        {"command": 3},
        {"plugins": [{"path": 3}]},
        {"training": []},
    ],
)
def test_crafted_manifests_get_a_sentence(store: Store, changes: dict[str, Any]) -> None:
    fields = json.loads((store.path / "manifest.json").read_text())
    (store.path / "manifest.json").write_bytes(seal({**fields, **changes}))
    store_refused(r"manifest.json: the manifest misses or misspells a field", Store.open, store.path)


@pytest.mark.parametrize("name", ["my_env.py:make_env", "module:Env-v0"])
def test_no_code_is_run_because_a_store_names_it(
    store: Store, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from morl_recipes.running.stored_runs import source_of

    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_env.py").write_text("open('ran', 'w')")
    refused(rf"its environment '{name}' is code, .* --env {name}", source_of, store, name)
    assert not (tmp_path / "ran").exists()
