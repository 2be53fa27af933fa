"""Record an episode as GIF or MP4."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from torch import Tensor

from morl_envs import _checks
from morl_envs.base import BatchedEnv
from morl_envs.protocol import check_playable
from morl_envs.rendering.scene import Scene

Picture = NDArray[np.uint8]


def record_episode(
    env: BatchedEnv, policy: Callable[[Tensor], Tensor], *, index: int = 0, every: int = 1, max_steps: int | None = None
) -> list[Picture]:
    """Play one episode of environment ``index`` from a new reset and return its pictures.

    Args:
        env: A torch environment.
        policy: Maps observations ``[N, n]`` to actions ``[N, a]``.
        index: Index of the environment in the batch that is filmed.
        every: Film every so many steps; the first and the last step are always filmed.
        max_steps: Stop after this many steps.

    Example:
        >>> from morl_envs import CrazyflieFrogger
        >>> env = CrazyflieFrogger(batch_size=[1], horizon=6)
        >>> len(record_episode(env, lambda observation: observation[:, 2:4], every=3))
        3
    """
    check_playable(env, policy)
    _checks.whole("every", every, 1)
    _checks.whole("index", index, 0)
    if not index < env.num_envs:
        _checks.fail("index", f"be that of one of {env.num_envs} environments", repr(index))
    if max_steps is not None:
        _checks.whole("max_steps", max_steps, 1)
    scene = Scene(env, index)
    observation = env.reset_tensors()
    scene.record()
    pictures = [scene.frame()]
    last = env.horizon if max_steps is None else min(max_steps, env.horizon)
    for step in range(1, last + 1):
        observation, reward, terminated, truncated = env.step_tensors(policy(observation))
        scene.record(reward[index].tolist())
        done = bool((terminated | truncated)[index])
        if done or step % every == 0 or step == last:
            pictures.append(scene.frame())
        if done:
            break
    return pictures


def captioned(pictures: Sequence[Picture], caption: str, size: int = 16) -> list[Picture]:
    """Put a line of text above every picture of a film, in smaller type if the picture is narrow.

    Example:
        >>> (film,) = captioned([np.zeros((80, 120, 3), np.uint8)], "PASTA")
        >>> film.shape
        (104, 120, 3)
    """
    _pictures(pictures)
    _checks.texts("caption", [caption])
    _checks.whole("size", size, 1)
    out = []
    for picture in pictures:
        height, width = picture.shape[:2]
        framed = Image.new("RGB", (width, height + round(1.5 * size)), "white")
        framed.paste(Image.fromarray(picture).convert("RGB"), (0, framed.height - height))
        draw = ImageDraw.Draw(framed)
        fitting = next((s for s in range(size, 7, -1) if draw.textlength(caption, font_size=s) <= width - 8), 7)
        draw.text((4, (framed.height - height) / 2), caption, fill="black", font_size=fitting, anchor="lm")
        out.append(np.asarray(framed))
    return out


def _pictures(value: object) -> None:
    """Require a list of pictures."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, np.ndarray) and one.ndim == 3 for one in value):
        _checks.fail("pictures", "be a list of arrays [height, width, 3]", repr(value)[:200])


def save_video(pictures: Sequence[Picture], path: str | Path, fps: int = 20) -> Path:
    """Write pictures to a ``.gif`` or ``.mp4`` file and return its path.

    MP4 needs the ``report`` extra (imageio with ffmpeg); GIF needs no extra.
    """
    path = _checks.path("path", path)
    _pictures(pictures)
    if not len(pictures):
        _checks.fail("pictures", "not be empty", "no pictures")
    _checks.positive("fps", fps)
    if path.suffix == ".gif":
        frames = [Image.fromarray(picture).quantize(128, dither=Image.Dither.NONE) for picture in pictures]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / float(fps)), loop=0)
    elif path.suffix == ".mp4":
        _save_mp4(pictures, path, fps)
    else:
        _checks.fail("path", "end in .gif or .mp4", path.name)
    return path


def _save_mp4(pictures: Sequence[Picture], path: Path, fps: int) -> None:
    if find_spec("imageio_ffmpeg") is None:
        raise ImportError("MP4 videos need the report extra: pip install 'morl-blocks[report]'.")
    writer: Any
    with import_module("imageio.v2").get_writer(path, fps=fps, macro_block_size=2) as writer:
        for picture in pictures:
            writer.append_data(picture)
    require_readable(path)


def require_readable(path: Path) -> None:
    """Read an MP4 back: its encoder, another process, does not tell when the disk was full."""
    try:
        import_module("imageio_ffmpeg").count_frames_and_secs(str(path))
    except RuntimeError:
        raise OSError("the encoder stopped early; is the disk full?") from None
