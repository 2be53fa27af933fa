from pathlib import Path

import pytest
from PIL import Image

from examples import pinn


def width(picture: Path) -> int:
    with Image.open(picture) as image:
        return int(image.size[0])


def test_a_normaliser_makes_the_units_of_a_residual_irrelevant(tmp_path: Path) -> None:
    found = pinn.main(steps=200, out=tmp_path / "pinn.png")
    assert found["STCH, normalised"] < 2 < found["plain sum"]
    assert width(tmp_path / "pinn.png") > 800


def test_digits_have_a_point_per_preference(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from examples import digits_tasks

    found = digits_tasks.main(steps=10, out=tmp_path / "digits.png")
    assert all(losses.shape == (5, 2) and losses.isfinite().all() for losses in found.values())
    assert width(tmp_path / "digits.png") > 500
