import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs import CARDS
from morl_envs.rendering import video
from morl_envs.rendering.gymnasium_film import draw_without_a_screen, follow
from morl_envs.rendering.video import require_readable
from morl_envs.source import find_source
from morl_recipes.common.errors import StoreError
from morl_recipes.evaluation.saved_policy import SavedPolicy, acting
from morl_recipes.running import play as play_module
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.play import film, play
from tests.morl_recipes.running.fakes import tiny_plan
from tests.refusals import refused


def test_policy_is_played_again_with_the_same_numbers(tmp_path: Path) -> None:
    run_sweep(tiny_plan(rows=["PASTA"]), tmp_path / "s", InlineEngine(), progress=False)
    one, two = (play(tmp_path / "s", episodes=5, seed=3) for _ in range(2))
    assert torch.equal(one.returns, two.returns)
    assert one.returns.shape == (5, 2)
    mean = one.returns.mean(0).numpy()
    assert one.eu == pytest.approx(float(mean @ np.array(one.preference)), rel=1e-6)
    card = CARDS["deep-sea-treasure-v0"]
    unit = (mean - np.array(card.hv_low)) / (np.array(card.hv_high) - np.array(card.hv_low))
    assert one.hv == pytest.approx(float(unit.clip(0, 1).prod()), rel=1e-5)
    refused("`preference` must sum to 1", play, tmp_path / "s", preference=(0.5, 0.6))
    refused("`episodes` must be a whole number >= 1", play, tmp_path / "s", episodes=0)


def test_film_names_its_policy_and_its_preference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    run_sweep(tiny_plan(rows=["Linear"]), tmp_path / "s", InlineEngine(), progress=False)
    captions: list[str] = []

    def note(pictures: list[np.ndarray], text: str) -> list[np.ndarray]:
        captions.append(text)
        return pictures

    monkeypatch.setattr(video, "captioned", note)
    played = play(tmp_path / "s", episodes=1, seed=3, video=tmp_path / "a.gif")
    play_module.film_run(tmp_path / "s", played, tmp_path / "b.gif", point="final", seed=3)
    weights = "-".join(f"{weight:.2f}" for weight in played.preference)
    seed = played.run_id.split(".s")[1].split(".")[0]
    assert captions[0] == f"Linear, preference {weights}, best policy of seed {seed}, episode 3"
    assert captions[1] == captions[0].replace("best", "last")
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"


def test_film_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(pictures: object, path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(play_module, "FRAMES", 4)
    box = torch.tensor([1.0, 1.0])
    search = acting(SavedPolicy(UnitBoxGaussianActor(30, 3, 2).state_dict(), 3, -box, box), (0.2, 0.2, 0.6))
    film(find_source("stealth"), search, tmp_path / "a.gif", 0)
    with Image.open(tmp_path / "a.gif") as image:
        assert getattr(image, "n_frames", 1) > 1
    before = (tmp_path / "a.gif").read_bytes()
    monkeypatch.setattr(video, "save_video", full_disk)
    with pytest.raises(StoreError, match=r"a.gif: cannot be written \(No space left on device\)"):
        film(find_source("stealth"), search, tmp_path / "a.gif", 0)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.gif", before)]


def test_camera_follows_the_robot() -> None:
    pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    source = find_source("mo-halfcheetah-v5")
    assert source.draw is not None
    env = source.draw(1, [0])
    follow(env)
    renderer = env.envs[0].unwrapped.mujoco_renderer
    assert env.envs[0].unwrapped.model.camera(renderer.camera_id).name == "track"
    follow(find_source("deep-sea-treasure-v0").make(1, [0]))  # has no camera


def test_half_an_mp4_is_noticed(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="the report extra is not installed")
    (tmp_path / "a.mp4").write_bytes(b"half a film")
    with pytest.raises(OSError, match="the encoder stopped early"):
        require_readable(tmp_path / "a.mp4")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a screen is no variable of the environment")
@pytest.mark.parametrize(("display", "expected"), [(None, "egl"), (":0", None)])
def test_machine_without_a_screen_draws_off_screen(
    display: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {} if display is None else {"DISPLAY": display})
    draw_without_a_screen()
    assert os.environ.get("MUJOCO_GL") == expected
    assert os.environ["SDL_AUDIODRIVER"] == "dummy"
    monkeypatch.setattr(os, "environ", {"MUJOCO_GL": "osmesa"})
    draw_without_a_screen()
    assert os.environ["MUJOCO_GL"] == "osmesa"  # the user's choice stays


def test_bad_name_of_a_video_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    refused(r"`video` must end in .gif or .mp4, got c.avi", play, tmp_path / "nowhere", video="c.avi")
