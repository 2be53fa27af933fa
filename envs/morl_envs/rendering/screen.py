"""A window that shows pictures as they are rendered, for ``render_mode="human"``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Screen:
    """A pygame window, opened at the first picture. Set ``SDL_VIDEODRIVER=dummy`` where there is no display.

    Args:
        fps: Maximal number of pictures per second.
    """

    def __init__(self, fps: int) -> None:
        self.fps = fps
        self._window: Any = None
        self._clock: Any = None

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture ``[height, width, 3]``, then wait to keep the frame rate."""
        import pygame

        if self._window is None:
            pygame.display.init()
            self._window = pygame.display.set_mode((picture.shape[1], picture.shape[0]))
            pygame.display.set_caption("morl_envs")
            self._clock = pygame.time.Clock()
        self._window.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None
