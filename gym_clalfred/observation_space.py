"""What an observation consists of, for given options of rendering."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import RenderOptions, View
from gym_clalfred.text_space import PlainText

MAX_DEPTH_METRES = 1000.0
GOAL_CHARACTERS = 512
INSTRUCTIONS_CHARACTERS = 4096


def observation_space(render: RenderOptions) -> spaces.Dict:
    """Five views with what was asked for of them, and the words."""
    shape = (len(View), render.image_size, render.image_size)
    parts: dict[str, spaces.Space[Any]] = {"rgb": spaces.Box(0, 255, (*shape, 3), np.uint8)}
    if render.instances:
        parts["classes"] = spaces.Box(0, len(ObjectClass) - 1, shape, np.uint8)
        parts["instances"] = spaces.Box(0, np.iinfo(np.int16).max, shape, np.int16)
    if render.depth:
        parts["depth"] = spaces.Box(0.0, MAX_DEPTH_METRES, shape, np.float32)
    parts["goal"] = PlainText(GOAL_CHARACTERS)
    parts["instructions"] = PlainText(INSTRUCTIONS_CHARACTERS)
    return spaces.Dict(parts)
