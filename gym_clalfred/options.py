"""The options of the environment, each declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.names import choose
from gym_clalfred.setups import Setup
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.tasks.goals import GoalMatching

#: ALFRED's step limit.
MAX_STEPS = 1000

P = ParamSpec("P")


@dataclass(frozen=True)
class EnvOptions:
    """Keyword arguments of ``gym.make`` and ``ClAlfredEnv``.

    Args:
        setup: the continual-learning setup; the registered ids set it.
        split: ``train``, ``valid_seen``, ``valid_unseen``, ``test_seen`` or ``test_unseen``.
        order: number of the paper's task order, 1 to 5; streams follow it.
        tier: generated episodes to use: ``tiny``, ``small`` or ``full``.
        backend: ``embedded`` or ``thor``.
        data: folder with other episodes (an imported store or ALFRED's own layout), instead of a
            tier.
        image_size: side of the square images in pixels.
        max_steps: actions after which the episode is truncated.
        reward: ``sparse`` or ``dense``.
        render_mode: ``None``, ``rgb_array``, or ``human`` for a window (needs pygame).
        masks: whether the observation has ``classes`` and ``instances``.
        depth: whether the observation has ``depth``.
        view_angles: (yaw, pitch) in degrees of the five views relative to the agent's own.
        reveal_task: whether ``info`` names the task and the episode.
        goal_matching: ``class``, or ``substring`` as in ALFRED's own evaluation.
        source: an opened source of episodes, instead of ``tier`` and ``data``.
        tasks: only episodes of these tasks, such as ``["Heat", "Pick&Place"]``; ``None`` for all.
        rooms: only episodes in these room types or scene numbers, such as ``["Kitchen", 301]``.
    """

    setup: str = Setup.BEHAVIOR_IL.value
    _: KW_ONLY
    split: str = Split.TRAIN.value
    order: int = 1
    tier: str = "small"
    backend: str = "embedded"
    data: str | Path | None = None
    image_size: int = 300
    max_steps: int = MAX_STEPS
    reward: str = "sparse"
    render_mode: str | None = None
    masks: bool = True
    depth: bool = False
    view_angles: tuple[tuple[float, float], ...] = RenderOptions().view_angles
    reveal_task: bool = False
    goal_matching: str = GoalMatching.CLASS.value
    source: EpisodeSource | None = None
    tasks: str | Sequence[str] | None = None
    rooms: str | int | Sequence[str | int] | None = None


def takes(
    options: Callable[P, Any],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, P], None]]:
    """Gives a constructor the signature of an options class, and errors for unknown keywords."""
    signature = inspect.signature(options)

    def decorate(init: Callable[..., None]) -> Callable[Concatenate[Any, P], None]:
        @functools.wraps(init)
        def checked(self: Any, *positional: P.args, **keywords: P.kwargs) -> None:
            for name in keywords:
                try:
                    choose("keyword", name, signature.parameters)
                except BadInputError as error:
                    raise TypeError(f"{type(self).__name__}: {error}") from None
            init(self, *positional, **keywords)

        me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        checked.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[me, *signature.parameters.values()], return_annotation=None
        )
        return checked

    return decorate
