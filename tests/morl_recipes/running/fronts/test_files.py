from pathlib import Path

import numpy as np
import pytest
import torch

from morl_recipes import Front
from morl_recipes.common.errors import StoreError
from morl_recipes.running.fronts import front as files


@pytest.mark.parametrize("kind", ["conditioned", "decomposed"])
def test_what_is_saved_is_what_is_loaded(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    front: Front = request.getfixturevalue(kind)
    front.save(tmp_path / "f")
    again = Front.load(tmp_path / "f")
    for name in ("env", "objectives", "method", "conditioned", "seeds", "episodes", "gamma"):
        assert getattr(again, name) == getattr(front, name)
    for name in ("asked", "returns", "errors", "member"):
        np.testing.assert_array_equal(getattr(again, name), getattr(front, name))
    for one, other in zip(again.policies, front.policies, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
    assert bool(np.isnan(front.errors).all()) == (kind == "decomposed")  # after a single episode


def test_second_front_replaces_the_first_only_when_it_is_complete(
    conditioned: Front, decomposed: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(fields: object) -> bytes:
        raise OSError("no space left")

    conditioned.save(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(files, "seal", crash)
        with pytest.raises(OSError, match="no space left"):
            decomposed.save(tmp_path)
    assert Front.load(tmp_path).conditioned is True
    decomposed.save(tmp_path)
    assert Front.load(tmp_path).conditioned is False
    assert len(list(tmp_path.iterdir())) == 2


def test_damage_is_named(conditioned: Front, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"front.json: cannot be read"):
        Front.load(tmp_path)
    conditioned.save(tmp_path)
    (file,) = tmp_path.glob("policies-*.safetensors")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(StoreError, match=r"policies-.*: damaged \(its digest does not match\)"):
        Front.load(tmp_path)
    text = (tmp_path / "front.json").read_text()
    (tmp_path / "front.json").write_text(text.replace('"gamma": 1.0', '"gamma": 0.5'))
    with pytest.raises(StoreError, match=r"front.json: damaged \(its digest does not match\)"):
        Front.load(tmp_path)


def test_a_link_is_not_followed(conditioned: Front, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "front.json").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(StoreError, match="is a link"):
        conditioned.save(tmp_path / "f")
    assert not (tmp_path / "mine.txt").exists()
