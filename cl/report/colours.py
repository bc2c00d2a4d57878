"""Colours that tell the lines of a chart apart."""

from __future__ import annotations

import colorsys

#: Chosen by hand; distinguishable without red against green.
FIRST = (
    "#3366cc", "#e0831f", "#1b998b", "#b0413e", "#7b5ea7", "#8c6d46", "#4f5d75",
    "#d16ba5", "#5aa9e6", "#7a9e1f", "#9aa1ad", "#e2b93b",
)  # fmt: skip

_GOLDEN = 0.618034
_LIGHTNESS = (0.38, 0.6, 0.48)
_SATURATION = 0.7
#: How far apart colours are at least, in steps of 256 of red, green and blue together.
_APART = 60
_TRIES = 100


def distinct_colours(count: int) -> list[str]:
    """As many different colours; more than the first ones are spread over the circle of hues."""
    found, apart, tried = list(FIRST[:count]), float(_APART), 0
    while len(found) < count:
        hue, lightness = (tried * _GOLDEN) % 1.0, _LIGHTNESS[tried % len(_LIGHTNESS)]
        rgb = colorsys.hls_to_rgb(hue, lightness, _SATURATION)
        candidate = "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
        tried += 1
        if all(_distance(candidate, other) >= apart for other in found):
            found.append(candidate)
        elif tried % _TRIES == 0:
            # Hundreds of lines: they come closer, but never together.
            apart = max(apart * 0.8, 1.0)
    return found


def _distance(one: str, other: str) -> int:
    return sum(abs(int(one[k : k + 2], 16) - int(other[k : k + 2], 16)) for k in (1, 3, 5))
