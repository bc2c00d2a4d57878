"""A window for ``render_mode="human"``; needs pygame, which is imported only here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.errors import MissingDependencyError

TITLE = "CL-ALFRED Gym"


def check_pygame() -> None:
    """Raises ``MissingDependencyError`` if there is no pygame."""
    if find_spec("pygame") is None:
        raise MissingDependencyError(
            'render_mode="human" needs pygame, which is not installed: '
            "pip install 'cl-alfred-gym[play]'"
        )


class Window:
    """Shows one picture after the other, not faster than a number per second.

    Args:
        size: (width, height) of the pictures.
        fps: pictures per second at most.
    """

    def __init__(self, size: tuple[int, int], fps: int) -> None:
        check_pygame()
        import pygame

        self._pygame: Any = pygame
        self._fps = fps
        pygame.display.init()
        self._screen: Any = pygame.display.set_mode(size)
        pygame.display.set_caption(TITLE)
        self._clock = pygame.time.Clock()

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Shows an (H, W, 3) picture."""
        surface = self._pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
