"""Other headless renderers, driven the way our environment is: five views per step.

Each function gives steps per second or raises ``PeerUnavailable`` with the reason.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

import numpy as np

VIEWS = 5

#: Pieces of furniture in the peers' rooms, about as many objects as one of our rooms has.
FURNITURE = 80

# Without a GPU, Mesa draws with as many threads as there are cores; ours has one.
os.environ.setdefault("LP_NUM_THREADS", "0")


class PeerUnavailable(Exception):  # noqa: N818 - it says that a peer is missing, not that we erred
    """The peer is not installed or cannot render on this machine."""


#: Stretches of which the fastest counts, as the best of several rounds does for ours.
STRETCHES = 5


def rate(step: Callable[[], object], seconds: float) -> float:
    """How often ``step`` runs in a processor's second; the first calls are not counted."""
    for _ in range(3):
        step()
    return max(_rate_once(step, seconds / STRETCHES) for _ in range(STRETCHES))


def _rate_once(step: Callable[[], object], seconds: float) -> float:
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        step()
        count += 1
    return count / spent


def mujoco_renderer(size: int, seconds: float) -> float:
    """MuJoCo's offscreen renderer in a room with boxes, RGB of five cameras per step.

    Shadow maps and multisampling are off: without a GPU they take most of its time.
    """
    os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        import mujoco
    except ImportError:
        raise PeerUnavailable("not installed (pip install mujoco)") from None
    try:
        model = mujoco.MjModel.from_xml_string(_mujoco_room(size))
        data = mujoco.MjData(model)
        renderer = mujoco.Renderer(model, size, size)
        mujoco.mj_forward(model, data)

        def step() -> list[np.ndarray]:
            pictures = []
            for camera in range(VIEWS):
                renderer.update_scene(data, camera=camera)
                pictures.append(renderer.render())
            return pictures

        result = rate(step, seconds)
        renderer.close()
    except Exception as error:
        raise PeerUnavailable(f"installed, but cannot render here: {error}") from error
    return result


def _mujoco_room(size: int) -> str:
    random = np.random.default_rng(0)
    boxes = "".join(
        f'<geom type="box" pos="{x:.2f} {y:.2f} {z:.2f}" size="{a:.2f} {b:.2f} {c:.2f}" '
        f'rgba="{red:.2f} {green:.2f} {blue:.2f} 1"/>'
        for x, y, z, a, b, c, red, green, blue in zip(
            *random.uniform(-2.5, 2.5, (2, FURNITURE)),
            random.uniform(0, 1.5, FURNITURE),
            *random.uniform(0.05, 0.4, (3, FURNITURE)),
            *random.uniform(0.2, 1, (3, FURNITURE)),
        )
    )
    cameras = "".join(
        f'<camera pos="0 0 1.57" fovy="60" xyaxes="{math.cos(a):.4f} {math.sin(a):.4f} 0 0 0 1"/>'
        for a in np.linspace(0, 2 * math.pi, VIEWS, endpoint=False)
    )
    return (
        f'<mujoco><visual><global offwidth="{size}" offheight="{size}"/>'
        '<quality shadowsize="0" offsamples="0"/></visual><worldbody>'
        '<light pos="0 0 3" dir="0 0 -1"/><geom type="plane" size="3 3 0.1"/>'
        f"{boxes}{cameras}</worldbody></mujoco>"
    )


def miniworld(size: int, seconds: float) -> float:
    """A furnished one-room Miniworld, RGB of five directions per step."""
    os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
    try:
        import pyglet

        pyglet.options["headless"] = True
        from miniworld.entity import Box
        from miniworld.miniworld import MiniWorldEnv
    except ImportError:
        raise PeerUnavailable("not installed (pip install miniworld)") from None
    except Exception as error:
        raise PeerUnavailable(f"installed, but cannot render here: {error}") from error

    class FurnishedRoom(MiniWorldEnv):
        def _gen_world(self) -> None:
            room = self.add_rect_room(-3, 3, -3, 3)
            for _ in range(FURNITURE):
                self.place_entity(Box(color="red", size=0.2), room=room)
            self.place_agent()

    try:
        env = FurnishedRoom(obs_width=size, obs_height=size)
        env.reset(seed=0)

        def step() -> list[np.ndarray]:
            pictures = []
            for _ in range(VIEWS):
                env.agent.dir += 2 * math.pi / VIEWS
                pictures.append(env.render_obs())
            return pictures

        result = rate(step, seconds)
        env.close()
    except Exception as error:
        raise PeerUnavailable(f"installed, but cannot render here: {error}") from error
    return result


#: Name -> function (image size, seconds) -> steps per second.
PEERS: dict[str, Callable[[int, float], float]] = {
    "MuJoCo": mujoco_renderer,
    "Miniworld": miniworld,
}
