"""The environment: one ALFRED-like episode at a time, seen through five views and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import ArrayLike, NDArray

from gym_clalfred.actions import Action
from gym_clalfred.checks import action_pair, flag, one_of, whole_number
from gym_clalfred.checks import view_angles as check_angles
from gym_clalfred.data.source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.errors import BadInputError, DataError, SimulatorError, UsageError
from gym_clalfred.interaction import (
    MAX_FAILURES,
    Choice,
    Pointing,
    as_sight_mask,
    choose_by_class,
    choose_by_mask,
)
from gym_clalfred.language.text import plain_lines
from gym_clalfred.objects import ObjectClass
from gym_clalfred.observation_space import (
    GOAL_CHARACTERS,
    INSTRUCTIONS_CHARACTERS,
    observation_space,
)
from gym_clalfred.rooms import RoomType
from gym_clalfred.scenarios import ORDERS, Scenario
from gym_clalfred.simulator.backends import check_backend, make_simulator
from gym_clalfred.simulator.contract import (
    Failure,
    Frame,
    RenderOptions,
    Simulator,
    View,
)
from gym_clalfred.tasks.goals import GoalChecker, GoalMatching, GoalStatus
from gym_clalfred.tasks.rewards import REWARDS
from gym_clalfred.viewer import Caption, Notes, draw_panel


#: ALFRED's step limit.
MAX_STEPS = 1000

IMAGE_SIZES = range(8, 2049)

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


@dataclass
class _Progress:
    """What an episode has come to; one object per episode."""

    episode: Episode
    checker: GoalChecker
    words: dict[str, str]
    goal: GoalStatus
    steps: int = 0
    failures: int = 0
    ended: bool = False
    crashed: bool = False
    pointing: Pointing | None = None
    action: Action | None = None
    object_class: ObjectClass = ObjectClass.NoObject
    target: str | None = None
    failure: Failure | None = None


class ClAlfredEnv(gymnasium.Env[Observation, NDArray[np.int64]], EzPickle):
    """Household tasks given in words, in one of 120 rooms.

    ## Description

    An agent stands in a room, gets a goal and step-by-step instructions, and acts until it says
    Stop. Every episode is one of seven task types (Pick&Place, Pick2&Place, Examine, Clean, Heat,
    Cool, Movable); which one is not told unless ``reveal_task`` asks for it.

    ## Action space

    ``MultiDiscrete([13, 119])``: an ``Action`` and an ``ObjectClass``. The class matters only for
    interactions; for PutObject it is the receptacle's. The instance of the class is chosen as
    ``choose_by_class`` says. ``act_with_mask`` points at an instance with a pixel mask instead.

    ## Observation space

    ``Dict`` of

    - ``rgb`` (5, H, W, 3) uint8: the views front, left, right, up and down;
    - ``classes`` (5, H, W) uint8: the class of every pixel, 0 for the room itself;
    - ``instances`` (5, H, W) int16: which object every pixel shows, 0 for the room itself;
    - ``depth`` (5, H, W) float32 metres, with ``depth=True``;
    - ``goal``, ``instructions``: text, the instructions separated by newlines.

    ## Rewards

    ``sparse``: 1 at the end of a successful episode, else 0. ``dense``: ALFRED's, see
    ``DenseReward``.

    ## Episode end

    Terminated by Stop, by the 10th failed action and by a crash of the simulator (a failed
    episode); truncated after ``max_steps`` actions. The goal is checked at the end, however it
    came.

    ## Info

    ``action_success``, ``reason`` (why not, or ``None``), ``failures`` and ``steps`` so far (Stop
    is not counted), ``goal_conditions`` (met, total); at the end also ``success`` and ``crashed``;
    with ``reveal_task`` also ``episode``, ``task_type`` and ``room_type``.

    Args:
        scenario: the continual-learning setup; the registered ids set it.
        split: ``train``, ``valid_seen`` or ``valid_unseen``.
        order: number of the paper's task order, 1 to 5; streams follow it.
        tier: generated episodes to use: ``tiny``, ``small`` or ``full``.
        backend: ``embedded`` or ``thor``.
        data: folder with other episodes (a store of imported ones or ALFRED's own layout), instead
            of a tier.
        image_size: side of the square images in pixels.
        max_steps: actions after which the episode is truncated.
        reward: ``sparse`` or ``dense``.
        render_mode: ``None`` or ``rgb_array``.
        masks: whether the observation has ``classes`` and ``instances``.
        depth: whether the observation has ``depth``.
        view_angles: (yaw, pitch) in degrees of the five views relative to the agent's own.
        reveal_task: whether ``info`` tells which task and episode this is.
        goal_matching: ``class``, or ``substring`` as in ALFRED's own evaluation.
        source: an opened source of episodes, instead of ``tier`` and ``data``.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012

    def __init__(
        self,
        scenario: str = Scenario.BEHAVIOR_IL.value,
        *,
        split: str = Split.TRAIN.value,
        order: int = 1,
        tier: str = "small",
        backend: str = "embedded",
        data: str | Path | None = None,
        image_size: int = 300,
        max_steps: int = MAX_STEPS,
        reward: str = "sparse",
        render_mode: str | None = None,
        masks: bool = True,
        depth: bool = False,
        view_angles: tuple[tuple[float, float], ...] = RenderOptions().view_angles,
        reveal_task: bool = False,
        goal_matching: str = GoalMatching.CLASS.value,
        source: EpisodeSource | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            scenario,
            split=split,
            order=order,
            tier=tier,
            backend=backend,
            data=data,
            image_size=image_size,
            max_steps=max_steps,
            reward=reward,
            render_mode=render_mode,
            masks=masks,
            depth=depth,
            view_angles=view_angles,
            reveal_task=reveal_task,
            goal_matching=goal_matching,
            source=source,
        )
        self.scenario = Scenario(one_of("scenario", scenario, [each.value for each in Scenario]))
        self.split = Split(one_of("split", split, [each.value for each in Split]))
        self.order = whole_number("order", order, 1, ORDERS)
        self.max_steps = whole_number("max_steps", max_steps, 1)
        self.backend = check_backend(backend)
        self.render_mode = one_of("render_mode", render_mode, [None, "rgb_array"])
        self.reveal_task = flag("reveal_task", reveal_task)
        #: What ``render`` writes besides; set by whoever acts.
        self.notes = Notes()
        self._matching = GoalMatching(
            one_of("goal_matching", goal_matching, [each.value for each in GoalMatching])
        )
        self._reward = REWARDS[one_of("reward", reward, list(REWARDS))]()
        self._render = RenderOptions(
            whole_number("image_size", image_size, IMAGE_SIZES[0], IMAGE_SIZES[-1]),
            instances=flag("masks", masks),
            depth=flag("depth", depth),
            view_angles=check_angles(view_angles),
        )
        self.source = source if source is not None else _open_source(tier, data)
        self._entries: dict[RoomType | None, tuple[EpisodeEntry, ...]] = {}
        self._simulator: Simulator | None = None
        self._progress: _Progress | None = None
        self._observation: Observation = {}
        self._object_ids: tuple[str, ...] = ()
        self.action_space = spaces.MultiDiscrete([len(Action), len(ObjectClass)])
        self.observation_space = observation_space(self._render)

    @property
    def simulator(self) -> Simulator:
        """The household itself, for experts; made when first needed."""
        if self._simulator is None:
            self._simulator = make_simulator(self.backend, self._render, self.source.room)
        return self._simulator

    @property
    def episode(self) -> Episode:
        """The episode at hand with its demonstration, for experts and teachers."""
        return self._running("episode").episode

    @property
    def goal(self) -> GoalStatus:
        """The goal conditions at hand, in words, for experts and viewers."""
        return self._running("goal").goal

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode: the one in ``options["episode"]``, or one drawn from the split.

        Args:
            seed: seeds the draw.
            options: ``{"episode": EpisodeKey or its text}``.
        """
        super().reset(seed=seed)
        key = self._chosen_key(options)
        self._progress = None
        episode = self.source.episode(key)
        annotations = len(episode.trajectory.annotations)
        if key.annotation >= annotations:
            raise DataError(f"no episode {key}: the trajectory has {annotations} annotations")
        try:
            progress = self._begin(episode)
        except SimulatorError:
            # A simulator that broke since the last episode gets one fresh start.
            self._drop_simulator()
            progress = self._begin(episode)
        self._progress = progress
        return self._handed_out(progress), self._info(progress)

    def step(self, action: ArrayLike) -> Step:
        """Does one action, an (action, class) pair of the action space."""
        progress = self._running("step", alive=True)
        chosen, wanted = action_pair(action)
        return self._act(progress, chosen, lambda: self._choose_by_class(progress, wanted), wanted)

    def act_with_mask(self, action: int | Action, mask: ArrayLike | None = None) -> Step:
        """Does one action on the object that a pixel mask of the front view points at.

        The object is the one whose pixels agree best with the mask, as on ALFRED's leaderboard.

        Args:
            action: an ``Action`` or its number.
            mask: (300, 300) or (image_size, image_size) booleans; only for interactions.
        """
        progress = self._running("act_with_mask", alive=True)
        chosen = Action(whole_number("action", action, 0, len(Action) - 1))
        if not chosen.is_interaction:
            return self._act(progress, chosen, lambda: Choice(None))
        if mask is None:
            raise BadInputError(f"{chosen.name} needs a mask of the object it is done on, got None")
        pixels = as_sight_mask(mask, self._render.image_size)
        return self._act(
            progress,
            chosen,
            lambda: choose_by_mask(pixels, self.simulator.sight(), self.simulator.objects),
        )

    def render(self) -> NDArray[np.uint8] | None:
        """A (540, 960, 3) picture for people: the views, the words, the last action."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() was called without a render mode; make the environment with "
                'render_mode="rgb_array"'
            )
            return None
        progress = self._running("render")
        return draw_panel(
            self._observation["rgb"], self._caption(progress), self._outline(progress)
        )

    def close(self) -> None:
        """Frees the simulator; ``reset`` would make a new one."""
        self._progress = None
        self._drop_simulator()

    def _act(
        self,
        progress: _Progress,
        action: Action,
        choose: Callable[[], Choice],
        wanted: ObjectClass = ObjectClass.NoObject,
    ) -> Step:
        progress.action, progress.object_class, progress.target = action, wanted, None
        progress.failure = None
        if action is not Action.Stop:
            progress.steps += 1
        failures = progress.failures
        try:
            if action is not Action.Stop:
                self._try(progress, action, choose)
            progress.goal = progress.checker.status(self.simulator)
            self._observation = self._observe(self.simulator.frame(), progress)
            progress.failures = failures + (progress.failure is not None)
            terminated = action is Action.Stop or progress.failures >= MAX_FAILURES
            truncated = not terminated and progress.steps >= self.max_steps
            reward = self._reward.step(action, progress.goal, terminated or truncated)
        except SimulatorError:
            self._drop_simulator()
            progress.crashed, progress.failure = True, Failure.SIMULATOR
            progress.failures = failures + 1
            terminated, truncated, reward = True, False, 0.0
        progress.ended = terminated or truncated
        return self._handed_out(progress), reward, terminated, truncated, self._info(progress)

    def _try(self, progress: _Progress, action: Action, choose: Callable[[], Choice]) -> None:
        if not action.is_interaction:
            progress.failure = self.simulator.step(action).failure
            return
        choice = choose()
        if choice.pointing is not None:
            progress.pointing = choice.pointing
            progress.object_class = choice.pointing.object_class
        progress.target = choice.object_id
        progress.failure = choice.failure
        if choice.object_id is not None:
            progress.failure = self.simulator.step(action, choice.object_id).failure

    def _choose_by_class(self, progress: _Progress, wanted: ObjectClass) -> Choice:
        if wanted is ObjectClass.NoObject:
            return Choice(None, Failure.NO_TARGET)
        objects = self.simulator.objects
        # What is not in the room cannot be in sight, and looking is the dearest part of a step.
        if not any(state.object_class is wanted for state in objects.values()):
            return Choice(None, Failure.NOT_VISIBLE)
        return choose_by_class(wanted, self.simulator.sight(wanted), objects, progress.pointing)

    def _handed_out(self, progress: _Progress) -> Observation:
        """The observation as the caller's own: no earlier one, and not what ``render`` draws."""
        if self.render_mode is None and not progress.crashed:
            return dict(self._observation)
        return {
            name: part.copy() if isinstance(part, np.ndarray) else part
            for name, part in self._observation.items()
        }

    def _observe(self, frame: Frame, progress: _Progress) -> Observation:
        self._object_ids = frame.object_ids
        observation: Observation = {"rgb": frame.rgb}
        if self._render.instances:
            observation["classes"] = frame.classes
            observation["instances"] = frame.instances
        if self._render.depth:
            observation["depth"] = frame.depth
        observation.update(progress.words)
        return observation

    def _info(self, progress: _Progress) -> dict[str, Any]:
        info: dict[str, Any] = {
            "action_success": progress.failure is None,
            "reason": None if progress.failure is None else progress.failure.value,
            "failures": progress.failures,
            "steps": progress.steps,
            "goal_conditions": (progress.goal.met, progress.goal.total),
        }
        if progress.ended:
            info["success"] = progress.goal.success and not progress.crashed
            info["crashed"] = progress.crashed
        if self.reveal_task:
            trajectory = progress.episode.trajectory
            info["episode"] = str(progress.episode.key)
            info["task_type"] = trajectory.task.type.value
            info["room_type"] = trajectory.room_type.value
        return info

    def _caption(self, progress: _Progress) -> Caption:
        held = None if progress.crashed else self.simulator.held
        return Caption(
            goal=progress.words["goal"],
            instructions=tuple(progress.words["instructions"].split("\n")),
            step=progress.steps,
            max_steps=self.max_steps,
            action=progress.action,
            object_class=progress.object_class,
            failure=progress.failure,
            failures=progress.failures,
            held=None if held is None else self.simulator.objects[held].object_class,
            goal_met=progress.goal.met,
            goal_total=progress.goal.total,
            success=progress.goal.success and not progress.crashed if progress.ended else None,
            notes=self.notes,
        )

    def _outline(self, progress: _Progress) -> NDArray[np.bool_] | None:
        """Pixels of the object that was acted on, in the front view."""
        if progress.target is None or progress.crashed or not self._render.instances:
            return None
        if progress.target not in self._object_ids:
            return None
        front: NDArray[np.int16] = self._observation["instances"][View.FRONT]
        return front == self._object_ids.index(progress.target) + 1

    def _chosen_key(self, options: dict[str, Any] | None) -> EpisodeKey:
        if options is not None and not isinstance(options, Mapping):
            raise BadInputError(f"expected reset options as a dict, got {options!r}")
        unknown = sorted(set(options or {}) - {"episode"})
        if unknown:
            raise BadInputError(f"unknown reset options {unknown}: expected only 'episode'")
        wanted = (options or {}).get("episode")
        if wanted is None:
            return self._drawn_key()
        if isinstance(wanted, str):
            return EpisodeKey.parse(wanted)
        if not isinstance(wanted, EpisodeKey):
            raise BadInputError(
                f"expected an EpisodeKey or its text as episode, got {type(wanted).__name__}"
            )
        return wanted

    def _drawn_key(self) -> EpisodeKey:
        if not self._entries:
            self._entries = _pools(self.source, self.split, self.scenario)
        pools = list(self._entries.values())
        pool = pools[int(self.np_random.integers(len(pools)))]
        return pool[int(self.np_random.integers(len(pool)))].key

    def _begin(self, episode: Episode) -> _Progress:
        self.simulator.reset(episode.trajectory.scene)
        annotation = episode.annotation
        checker = GoalChecker(episode.trajectory.task, self._matching)
        progress = _Progress(
            episode,
            checker,
            {
                "goal": plain_lines([annotation.goal], GOAL_CHARACTERS),
                "instructions": plain_lines(annotation.steps, INSTRUCTIONS_CHARACTERS),
            },
            checker.status(self.simulator),
        )
        self._reward.reset(episode.trajectory, self.simulator)
        self._observation = self._observe(self.simulator.frame(), progress)
        return progress

    def _drop_simulator(self) -> None:
        simulator, self._simulator = self._simulator, None
        if simulator is not None:
            simulator.close()

    def _running(self, method: str, alive: bool = False) -> _Progress:
        if self._progress is None:
            raise UsageError(f"{method} needs an episode; call reset() first")
        if alive and self._progress.ended:
            raise UsageError(f"{method} after the end of the episode; call reset() first")
        return self._progress


def _open_source(tier: str, data: str | Path | None) -> EpisodeSource:
    from gym_clalfred.data import open_source

    return open_source(tier=tier, data=data)


def _pools(
    source: EpisodeSource, split: Split, scenario: Scenario
) -> dict[RoomType | None, tuple[EpisodeEntry, ...]]:
    """What ``reset`` draws from: first one of the pools, then an episode of it."""
    entries = source.entries(split)
    if not entries:
        raise DataError(f"{source.label} has no episodes in split {split.value!r}")
    if not scenario.is_balanced_by_room:
        return {None: entries}
    groups = {
        room_type: tuple(entry for entry in entries if entry.room_type is room_type)
        for room_type in RoomType
    }
    return {room_type: group for room_type, group in groups.items() if group}
