"""The record of a front: read without policies, and checked number by number."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morl_recipes.store.files import seal
from morl_recipes.store.front import NAME, SCHEMA, FrontReturns, front_fields, read_front
from tests.refusals import store_refused

ASKED = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
RECORD = FrontReturns(
    env="toy",
    objectives=("a", "b"),
    method="Linear",
    conditioned=True,
    seeds=(3,),
    asked=ASKED,
    returns=ASKED**2,
    errors=np.full((3, 2), np.nan),
    member=np.zeros(3, dtype=np.int64),
    episodes=1,
)


def write(folder: Path, **changes: Any) -> None:
    (folder / NAME).write_bytes(seal({"schema": SCHEMA, **front_fields(RECORD), **changes}))


def test_record_is_read_without_policies(tmp_path: Path) -> None:
    write(tmp_path)
    again = read_front(tmp_path)
    for name, value in front_fields(RECORD).items():
        np.testing.assert_array_equal(getattr(again, name), value)
    assert again.table().shape == (3, 7)
    assert again.of(3).points.tolist() == [[0.0, 1.0], [0.25, 0.25], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"returns": [[None, 1.0]] * 3}, "a number is not finite"),
        ({"asked": [[None, 1.0]] * 3}, "a number is not finite"),
        ({"asked": [[0.5, 0.5]]}, r"asked has shape \(1, 2\), not \(3, 2\)"),
        ({"member": [0, 0, 1]}, "an evaluation belongs to no policy"),
        ({"seeds": "three"}, "ValueError"),
    ],
)
def test_record_with_impossible_numbers_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path, **changes)
    store_refused(rf"front\.json: damaged .*{message}", read_front, tmp_path)
