"""Film a Gymnasium environment by its own renderer."""

import os
import sys
from collections.abc import Callable
from typing import Any

from torch import Tensor


def record_gymnasium(env: Any, policy: Callable[[Tensor], Tensor], name: str, *, every: int = 1) -> list[Any]:
    """Play one episode of a batch of one environment; return pictures of the start, every so many steps and the end."""
    follow(env)
    observation, pictures = env.reset_tensors(), [_picture(env, name)]
    for step in range(1, env.horizon + 1):
        observation, _, terminated, truncated = env.step_tensors(policy(observation))
        if bool(terminated | truncated):
            break
        if step % every == 0 and step < env.horizon:
            pictures.append(_picture(env, name))
    return [*pictures, _picture(env, name)]


def follow(env: Any) -> None:
    """Let the camera follow the robot; MuJoCo's default camera is fixed, so a fast robot would leave the picture."""
    world = env.envs[0].unwrapped
    renderer, model = getattr(world, "mujoco_renderer", None), getattr(world, "model", None)
    if renderer is None or model is None:
        return
    names = [model.camera(i).name for i in range(model.ncam)]
    if "track" in names:
        renderer.camera_id = names.index("track")


def draw_without_a_screen() -> None:
    """Choose renderers that need no display and no sound card, unless the user has chosen others."""
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("MUJOCO_GL", "egl")


def _picture(env: Any, name: str) -> Any:
    """Draw the environment; the type of a renderer's error depends on the driver that is missing."""
    try:
        return env.envs[0].render()
    except Exception as error:
        backend = os.environ.get("MUJOCO_GL", "not set")
        raise ValueError(
            f"{name} cannot be drawn on this machine ({str(error).strip() or type(error).__name__}). MUJOCO_GL is "
            f"{backend}: without a display set MUJOCO_GL=egl, or MUJOCO_GL=osmesa where there is no EGL either."
        ) from error
