"""Pictures for people: five views, instructions, the last action and the progress; a window."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from gym_clalfred.actions import Action
from gym_clalfred.errors import MissingDependencyError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Failure, View

PANEL_SIZE = (960, 540)

_BACKGROUND = (16, 18, 24)
_CARD = (27, 30, 39)
_LINE = (48, 53, 66)
_TEXT = (232, 235, 241)
_QUIET = (142, 150, 166)
_GOOD = (94, 214, 142)
_BAD = (255, 116, 108)
_ACCENT = (255, 199, 92)

_Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Notes:
    """What an agent adds to the picture.

    Args:
        title: who acts.
        instruction: number of the instruction being followed, from 0.
        progress: how much of the task is done, 0..1.
        looks_for: what it wants to act on next.
        heat: (5, h, w) where in the views it sees that, 0..1.
    """

    title: str = ""
    instruction: int | None = None
    progress: float | None = None
    looks_for: str = ""
    heat: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Caption:
    """The text beside the views.

    ``success`` is ``None`` while the episode runs.
    """

    goal: str
    instructions: tuple[str, ...]
    step: int
    max_steps: int
    action: Action | None
    object_class: ObjectClass
    failure: Failure | None
    failures: int
    held: ObjectClass | None
    goal_met: int
    goal_total: int
    success: bool | None = None
    notes: Notes = Notes()


def draw_panel(
    views: NDArray[np.uint8], caption: Caption, outline: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Draws the picture.

    Args:
        views: (5, H, W, 3) in the order of ``View``.
        caption: what to write.
        outline: (H, W) pixels of the front view to draw a line around.

    Returns:
        (540, 960, 3) uint8.
    """
    image = Image.new("RGB", PANEL_SIZE, _BACKGROUND)
    draw = ImageDraw.Draw(image)
    _draw_goal(draw, caption)
    _draw_views(image, draw, views, outline, caption.notes)
    _draw_instructions(draw, caption)
    _draw_status(draw, caption)
    return np.array(image)


_MARGIN = 14
_GAP = 8
_FRONT = 328
_SMALL = (_FRONT - _GAP) // 2
_HEADER = (_MARGIN, _MARGIN, PANEL_SIZE[0] - _MARGIN, 56)
_VIEWS_TOP = _HEADER[3] + _GAP
_STATUS = (
    _MARGIN,
    _VIEWS_TOP + _FRONT + _GAP,
    _MARGIN + 2 * _FRONT + _GAP,
    PANEL_SIZE[1] - _MARGIN,
)
_INSTRUCTIONS = (_STATUS[2] + _GAP, _VIEWS_TOP, PANEL_SIZE[0] - _MARGIN, PANEL_SIZE[1] - _MARGIN)
_ROUND = 8

#: How opaque the warmest place is, of 255.
_WARMTH = 110
_PROGRESS = 150

#: Left, right, up and down stand beside the front view as two rows of two.
_VIEW_PLACES = {
    View.FRONT: (_MARGIN, _VIEWS_TOP, _FRONT),
    View.LEFT: (_MARGIN + _FRONT + _GAP, _VIEWS_TOP, _SMALL),
    View.RIGHT: (_MARGIN + _FRONT + 2 * _GAP + _SMALL, _VIEWS_TOP, _SMALL),
    View.UP: (_MARGIN + _FRONT + _GAP, _VIEWS_TOP + _SMALL + _GAP, _SMALL),
    View.DOWN: (_MARGIN + _FRONT + 2 * _GAP + _SMALL, _VIEWS_TOP + _SMALL + _GAP, _SMALL),
}


def _draw_goal(draw: ImageDraw.ImageDraw, caption: Caption) -> None:
    x0, y0, x1, y1 = _HEADER
    draw.rounded_rectangle(_HEADER, _ROUND, fill=_CARD)
    draw.rounded_rectangle((x0, y0, x0 + 5, y1), 2, fill=_ACCENT)
    if caption.notes.title:
        title = _fitted(draw, caption.notes.title, 14, (x1 - x0) // 3)
        width = int(draw.textlength(title, _font(14)))
        draw.rounded_rectangle((x1 - width - 30, y0 + 9, x1 - 9, y1 - 9), 6, fill=_LINE)
        draw.text((x1 - 20, (y0 + y1) // 2), title, _ACCENT, _font(14), anchor="rm")
        x1 -= width + 30
    for size in (21, 18, 16, 14):
        if draw.textlength(caption.goal, _font(size)) <= x1 - x0 - 34:
            break
    line = _fitted(draw, caption.goal, size, x1 - x0 - 34)
    draw.text((x0 + 18, (y0 + y1) // 2), line, _TEXT, _font(size), anchor="lm")


def _draw_views(
    image: Image.Image,
    draw: ImageDraw.ImageDraw,
    views: NDArray[np.uint8],
    outline: NDArray[np.bool_] | None,
    notes: Notes,
) -> None:
    for view, (x, y, side) in _VIEW_PLACES.items():
        picture = Image.fromarray(views[view]).resize((side, side), Image.Resampling.BICUBIC)
        if notes.heat is not None:
            warm = Image.fromarray((_WARMTH * notes.heat[view]).astype(np.uint8))
            picture.paste(_ACCENT, mask=warm.resize((side, side), Image.Resampling.BILINEAR))
        if view is View.FRONT and outline is not None:
            picture.paste(_ACCENT, mask=_edge(outline, side))
        corners = Image.new("L", (side, side), 0)
        ImageDraw.Draw(corners).rounded_rectangle((0, 0, side - 1, side - 1), _ROUND, fill=255)
        image.paste(picture, (x, y), corners)
        name = view.name.lower()
        width = int(draw.textlength(name, _font(12)))
        draw.rounded_rectangle((x + 7, y + 7, x + width + 21, y + 26), 6, fill=_BACKGROUND)
        draw.text((x + 14, y + 16), name, _QUIET, _font(12), anchor="lm")
    if notes.looks_for:
        x, y, side = _VIEW_PLACES[View.FRONT]
        text = f"looks for {notes.looks_for}"
        width = int(draw.textlength(text, _font(13)))
        draw.rounded_rectangle(
            (x + 7, y + side - 30, x + width + 23, y + side - 7), 6, fill=_BACKGROUND
        )
        draw.text((x + 15, y + side - 18), text, _ACCENT, _font(13), anchor="lm")


def _edge(mask: NDArray[np.bool_], side: int) -> Image.Image:
    """A line two pixels wide just outside a mask, enlarged to ``side`` pixels."""
    large = Image.fromarray(mask.astype(np.uint8) * 255).resize((side, side))
    return ImageChops.subtract(large.filter(ImageFilter.MaxFilter(5)), large)


def _draw_instructions(draw: ImageDraw.ImageDraw, caption: Caption) -> None:
    x0, y0, x1, y1 = _INSTRUCTIONS
    draw.rounded_rectangle(_INSTRUCTIONS, _ROUND, fill=_CARD)
    draw.text((x0 + 14, y0 + 12), "INSTRUCTIONS", _QUIET, _font(11))
    top, room = y0 + 36, y1 - y0 - 46
    for size in (16, 15, 14, 13, 12, 11, 10):
        blocks = [_wrapped(draw, text, size, x1 - x0 - 50) for text in caption.instructions]
        line_height, between = round(1.28 * size), size // 2
        height = sum(len(block) * line_height + between for block in blocks)
        if height <= room:
            break
    for number, block in enumerate(blocks, start=1):
        if top + len(block) * line_height > y1 - 8:
            draw.text((x0 + 14, y1 - 18), "\u2026", _QUIET, _font(size))
            break
        current = caption.notes.instruction
        if current == number - 1:
            bottom = top + len(block) * line_height
            draw.rounded_rectangle((x0 + 7, top - 4, x1 - 7, bottom + 3), 5, fill=_LINE)
        draw.text((x0 + 14, top), str(number), _ACCENT, _font(size))
        colour = _TEXT if current is None or current == number - 1 else _QUIET
        for line in block:
            draw.text((x0 + 36, top), line, colour, _font(size))
            top += line_height
        top += between


def _draw_status(draw: ImageDraw.ImageDraw, caption: Caption) -> None:
    x0, y0, x1, _ = _STATUS
    draw.rounded_rectangle(_STATUS, _ROUND, fill=_CARD)
    title, detail, colour = _last_action(caption)
    _draw_sign(draw, (x0 + 30, y0 + 33), colour, caption)
    size = 21 if detail else 22
    draw.text((x0 + 56, y0 + (24 if detail else 33)), title, _TEXT, _font(size), anchor="lm")
    draw.text((x0 + 56, y0 + 46), detail, colour, _font(13), anchor="lm")
    draw.line((x0 + 14, y0 + 64, x1 - 14, y0 + 64), fill=_LINE)
    if caption.notes.progress is not None:
        _draw_progress(draw, (x1 - 16 - _PROGRESS, y0 + 24), caption.notes.progress)
    facts = [
        ("HOLDING", caption.held.name if caption.held is not None else "nothing"),
        ("STEP", f"{caption.step} / {caption.max_steps}"),
        ("FAILED ACTIONS", str(caption.failures)),
        ("GOAL CONDITIONS", f"{caption.goal_met} / {caption.goal_total}"),
    ]
    column = (x1 - x0 - 28) // len(facts)
    for index, (name, value) in enumerate(facts):
        x = x0 + 16 + index * column
        draw.text((x, y0 + 76), name, _QUIET, _font(11))
        draw.text((x, y0 + 93), _fitted(draw, value, 17, column - 12), _TEXT, _font(17))
    _draw_dots(draw, (x0 + 16 + 3 * column + 56, y0 + 103), caption)


def _draw_progress(draw: ImageDraw.ImageDraw, start: tuple[int, int], share: float) -> None:
    (x, y), share = start, min(max(share, 0.0), 1.0)
    draw.text((x, y - 12), "PROGRESS", _QUIET, _font(11))
    draw.text((x + _PROGRESS, y - 12), f"{100 * share:.0f} %", _TEXT, _font(11), anchor="ra")
    draw.rounded_rectangle((x, y + 8, x + _PROGRESS, y + 16), 4, fill=_LINE)
    if share > 0:
        draw.rounded_rectangle((x, y + 8, x + 8 + share * (_PROGRESS - 8), y + 16), 4, fill=_GOOD)


def _draw_dots(draw: ImageDraw.ImageDraw, start: tuple[int, int], caption: Caption) -> None:
    for index in range(caption.goal_total):
        x, y = start[0] + index * 18, start[1]
        fill = _GOOD if index < caption.goal_met else _LINE
        draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=fill)


def _draw_sign(
    draw: ImageDraw.ImageDraw, centre: tuple[int, int], colour: _Colour, caption: Caption
) -> None:
    x, y = centre
    draw.ellipse((x - 13, y - 13, x + 13, y + 13), fill=colour)
    if caption.action is None:
        draw.polygon([(x - 4, y - 6), (x - 4, y + 6), (x + 7, y)], fill=_CARD)
    elif colour == _BAD:
        draw.line((x - 5, y - 5, x + 5, y + 5), fill=_CARD, width=3)
        draw.line((x - 5, y + 5, x + 5, y - 5), fill=_CARD, width=3)
    else:
        draw.line((x - 6, y, x - 1, y + 5, x + 6, y - 5), fill=_CARD, width=3, joint="curve")


def _last_action(caption: Caption) -> tuple[str, str, _Colour]:
    """Headline, second line and colour for the last action."""
    if caption.action is None:
        return "Start", "", _QUIET
    title = caption.action.name
    if caption.action.is_interaction:
        title += f"  {caption.object_class.name}"
    if caption.success is not None:
        ending = "success" if caption.success else "the goal was not reached"
        why = f"{caption.failure.value}; " if caption.failure is not None else ""
        return title, f"{why}episode over: {ending}", _GOOD if caption.success else _BAD
    if caption.failure is not None:
        return title, caption.failure.value, _BAD
    return title, "", _GOOD


def _wrapped(draw: ImageDraw.ImageDraw, text: str, size: int, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if draw.textlength(longer, _font(size)) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return [_fitted(draw, line, size, width) for line in lines]


def _fitted(draw: ImageDraw.ImageDraw, text: str, size: int, width: int) -> str:
    if draw.textlength(text, _font(size)) <= width:
        return text
    while text and draw.textlength(f"{text}\u2026", _font(size)) > width:
        text = text[:-1]
    return f"{text}\u2026"


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


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
