"""Draw the pictures of the environment pages: ``python docs/environments/make_pictures.py``."""

from pathlib import Path

from PIL import Image

from morl_envs.heuristics import HEURISTICS
from morl_envs.rendering.video import record_episode
from morl_envs.worlds import create_world

HERE = Path(__file__).parent
# file -> world, heuristic, seed, step
PICTURES = {
    "stealth": ("StealthVisualSearch", HEURISTICS["stealth"]["greedy searcher"], 1004, 250),
    "stealth_wall": ("StealthVisualSearch", HEURISTICS["stealth"]["wall follower"], 1004, 330),
    "frogger": ("CrazyflieFrogger", HEURISTICS["frogger"]["lane-waiting crosser"], 1003, 215),
    "formation": ("CrazyflieFormation", HEURISTICS["formation"]["goal rusher"], 5, 70),
}


def main() -> None:
    """Play each episode up to its step and write the picture."""
    for name, (world, policy, seed, step) in PICTURES.items():
        env = create_world(world, seed=seed)
        picture = record_episode(env, policy, every=step, max_steps=step)[-1]
        Image.fromarray(picture).save(HERE / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
