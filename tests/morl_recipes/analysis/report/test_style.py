"""Colours that can be seen on both backgrounds, and looks that differ without them."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from morl_recipes.analysis.report.style import DARK_BACKGROUND, LIGHT_BACKGROUND, styles

NAMES = ("PASTA (Ours)", *(f"M{i}" for i in range(8)))


def channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


# Machado, Oliveira and Fernandes (2009), full severity; OKLab is Ottosson (2020).
EYES = {
    "normal": np.eye(3),
    "protan": np.array(
        [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)]
    ),
    "deutan": np.array(
        [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)]
    ),
    "tritan": np.array(
        [(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)]
    ),
}
LMS = np.array(
    [(0.4122215, 0.5363325, 0.0514460), (0.2119035, 0.6806995, 0.1073970), (0.0883025, 0.2817188, 0.6299787)]
)
LAB = np.array(
    [(0.2104543, 0.7936178, -0.0040720), (1.9779985, -2.4285922, 0.4505937), (0.0259040, 0.7827718, -0.8086758)]
)


def seen(colour: str, eye: str) -> NDArray[np.float64]:
    screen = np.clip(EYES[eye] @ channels(colour), 0, 1)
    linear = np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)
    return np.asarray(LAB @ np.cbrt(LMS @ linear))


@pytest.mark.parametrize("style", styles(NAMES))
def test_colours_stand_out_from_both_pages(style: object) -> None:
    assert contrast(style.light, LIGHT_BACKGROUND) >= 3  # type: ignore[attr-defined]
    assert contrast(style.dark, DARK_BACKGROUND) >= 3  # type: ignore[attr-defined]


def test_looks_differ_without_colour() -> None:
    looks = [(style.dash, style.symbol, style.hatch) for style in styles(NAMES)]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_colours_stay_apart_for_all_eyes(theme: str, eye: str) -> None:
    for first, second in combinations([getattr(style, theme) for style in styles(NAMES)], 2):
        assert np.linalg.norm(seen(first, eye) - seen(second, eye)) > 0.09


def test_pasta_always_looks_the_same() -> None:
    assert styles(("z=1.0", "PASTA (Ours)"))[1] == styles(("PASTA (Ours)", "Linear"))[0]
    assert len(styles(tuple(f"M{i}" for i in range(40)))) == 40
