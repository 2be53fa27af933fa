from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from morl_envs.rendering import video
from morl_envs.worlds import create_world
from tests.refusals import refused


def pictures() -> list[video.Picture]:
    env = create_world("CrazyflieFrogger", horizon=4)
    return video.record_episode(env, lambda observation: torch.ones(1, 2))


def test_gif_and_mp4(tmp_path: Path) -> None:
    frames = pictures()
    assert len(frames) == 5
    with Image.open(video.save_video(frames, tmp_path / "flight.gif")) as gif:
        assert gif.n_frames == 5
        assert gif.size == (758, 512)
    path = video.save_video(frames, tmp_path / "flight.mp4")
    assert path.stat().st_size > 1000
    assert b"ftyp" in path.read_bytes()[:32]


def test_the_end_of_an_episode_is_filmed() -> None:
    env = create_world("CrazyflieFrogger", horizon=50)
    frames = video.record_episode(env, lambda observation: torch.tensor([[0.0, -1.0]]), every=1000)
    assert len(frames) == 2
    assert bool(env.events()["violation"])
    assert not np.array_equal(frames[0], frames[1])


def test_a_caption_stands_above_and_fits() -> None:
    (plain, *_), size = pictures(), 16
    for words in ("PASTA", "PASTA, preference 0.50-0.30-0.20, best policy of seed 0, episode 1004" * 2):
        (framed, *_) = video.captioned([plain], words, size)
        assert framed.shape == (plain.shape[0] + 24, plain.shape[1], 3)
        np.testing.assert_array_equal(framed[24:], plain[..., :3])
        dark = np.flatnonzero((framed[:24] < 128).any((0, 2)))
        assert 0 < dark.min() < dark.max() < plain.shape[1] - 1


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused("`path` must end in .gif or .mp4, got flight.avi", video.save_video, pictures(), tmp_path / "flight.avi")
    refused("`pictures` must not be empty", video.save_video, [], tmp_path / "flight.gif")
    frogger = create_world("CrazyflieFrogger")
    refused("`every` must be a whole number >= 1", video.record_episode, frogger, torch.sign, every=0)
    monkeypatch.setattr(video, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"report extra: pip install 'morl-blocks\[report\]'"):
        video.save_video(pictures(), tmp_path / "flight.mp4")
