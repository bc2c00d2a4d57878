"""The environment: one ALFRED episode at a time, observed as five views and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import ArrayLike, NDArray

from gym_clalfred.actions import Action
from gym_clalfred.checks import action_pair, flag, one_of, whole_number
from gym_clalfred.checks import view_angles as check_angles
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.errors import BadInputError, DataError, SimulatorError, UsageError
from gym_clalfred.interaction import (
    MAX_FAILURES,
    Choice,
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
from gym_clalfred.options import EnvOptions, takes
from gym_clalfred.possible_actions import is_no_key, keys_to_action, most_central, possible_actions
from gym_clalfred.progress import Progress
from gym_clalfred.selection import Pools, Selection, key_of_options, open_episodes
from gym_clalfred.setups import ORDERS, Setup
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
from gym_clalfred.viewer import PANEL_SIZE, Notes, Window, check_pygame, draw_panel

IMAGE_SIZES = range(8, 2049)

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


class ClAlfredEnv(gymnasium.Env[Observation, NDArray[np.int64]], EzPickle):
    """Household tasks in kitchens, living rooms, bedrooms and bathrooms, given as instructions.

    ## Description

    An agent stands in a room, gets a goal and step-by-step instructions, and acts until it says
    Stop. Every episode is one of seven task types (Pick&Place, Pick2&Place, Examine, Clean, Heat,
    Cool, Movable). ``info`` names the type only with ``reveal_task=True``.

    ## Action space

    ``MultiDiscrete([13, 119])``: an ``Action`` and an ``ObjectClass``. The class matters only for
    interactions; for PutObject it is the receptacle's. ``choose_by_class`` picks the instance of
    the class. ``act_with_mask`` takes a pixel mask of the instance instead.

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

    Stop, the tenth failed action or a crash of the simulator (which counts as a failure)
    terminates the episode. It is truncated after ``max_steps`` actions. The goal is checked at
    the end in every case.

    ## Info

    ``action_success``, ``reason`` (why not, or ``None``), ``failures`` and ``steps`` so far (Stop
    is not counted), ``goal_conditions`` (met, total), ``is_success`` (whether the episode has ended
    in success); at the end also ``success`` and ``crashed``; with ``reveal_task`` also
    ``episode_key``, ``task_type`` and ``room_type``.

    docs/ENVIRONMENT.md has the rewards in numbers, all reasons and what each class can do.

    Takes the keywords that ``EnvOptions`` lists, the setup also by position.
    """

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 5}  # noqa: RUF012

    @takes(EnvOptions)
    def __init__(self, *setup: str, **keywords: Any) -> None:
        options = EnvOptions(*setup, **keywords)
        EzPickle.__init__(self, *setup, **keywords)
        self.setup = Setup.parse(options.setup)
        self.split = Split(one_of("split", options.split, [each.value for each in Split]))
        self.order = whole_number("order", options.order, 1, ORDERS)
        self.max_steps = whole_number("max_steps", options.max_steps, 1)
        self.backend = check_backend(options.backend)
        self.render_mode = one_of(
            "render_mode", options.render_mode, [None, *self.metadata["render_modes"]]
        )
        if self.render_mode == "human":
            check_pygame()
        #: Which episodes ``reset`` draws.
        self.selection = Selection.parse(options.tasks, options.rooms)
        self.reveal_task = flag("reveal_task", options.reveal_task)
        #: What ``render`` writes in addition; set by the code that acts.
        self.notes = Notes()
        self._matching = GoalMatching(
            one_of("goal_matching", options.goal_matching, [each.value for each in GoalMatching])
        )
        self._reward = REWARDS[one_of("reward", options.reward, list(REWARDS))]()
        self._render = RenderOptions(
            whole_number("image_size", options.image_size, IMAGE_SIZES[0], IMAGE_SIZES[-1]),
            instances=flag("masks", options.masks),
            depth=flag("depth", options.depth),
            view_angles=check_angles(options.view_angles),
        )
        self.source = open_episodes(options.tier, options.data, options.source)
        self._pools: Pools = ()
        self._from_keys = False
        self._window: Window | None = None
        self._simulator: Simulator | None = None
        self._progress: Progress | None = None
        self._observation: Observation = {}
        self._object_ids: tuple[str, ...] = ()
        self.action_space = spaces.MultiDiscrete([len(Action), len(ObjectClass)])
        self.observation_space = observation_space(self._render)

    @property
    def simulator(self) -> Simulator:
        """The simulator, for experts; started on first use."""
        if self._simulator is None:
            self._simulator = make_simulator(self.backend, self._render, self.source.room)
        return self._simulator

    @property
    def episode(self) -> Episode:
        """The current episode with its demonstration, for experts and teachers."""
        return self._running("episode").episode

    @property
    def goal(self) -> GoalStatus:
        """The current goal conditions as text, for experts and viewers."""
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
        key = key_of_options(options) or self._drawn_key()
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
        self._show()
        return self._copy_observation(progress), progress.info(self.reveal_task)

    def step(self, action: ArrayLike) -> Step:
        """Does one action, an (action, class) pair of the action space."""
        progress = self._running("step", alive=True)
        if self._from_keys and is_no_key(action):
            return self._waited(progress)
        chosen, wanted = action_pair(action)
        if self._from_keys and chosen.is_interaction and wanted is ObjectClass.NoObject:
            return self._act_on_most_central(progress, chosen)
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

    def possible_actions(self) -> NDArray[np.bool_]:
        """(13, 119) booleans: which pairs of an action and a class can succeed now.

        A pair that is false would fail. A pair that is true can still fail if PutObject finds no
        free space.
        """
        progress = self._running("possible_actions", alive=True)
        try:
            return possible_actions(self.simulator, progress.pointing)
        except SimulatorError:
            # The next step meets the broken simulator and ends the episode.
            return np.ones((len(Action), len(ObjectClass)), dtype=np.bool_)

    def action_masks(self) -> NDArray[np.bool_]:
        """(13 + 119,) booleans, as sb3-contrib's MaskablePPO expects them for ``MultiDiscrete``.

        First the actions that can succeed with some class, then the classes on which some action
        can succeed. ``DiscreteActions`` masks pairs.
        """
        table = self.possible_actions()
        return np.concatenate([table.any(axis=1), table.any(axis=0)])

    def get_keys_to_action(self) -> dict[str, NDArray[np.int64]]:
        """The keys for ``gymnasium.utils.play.play``, see ``possible_actions.KEYS``.

        Afterwards ``step`` accepts the actions of ``play``. A 0, sent while no key is pressed, does
        nothing and is not counted. An interaction with NoObject acts on the nearest suitable object
        to the centre of the front view, and does nothing if there is none.
        """
        self._from_keys = True
        return keys_to_action()

    def render(self) -> NDArray[np.uint8] | None:
        """A (540, 960, 3) picture for people: the views, the words, the last action.

        In mode ``human`` a window shows it after every step, and ``None`` is returned.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() was called without a render mode; make the environment with "
                'render_mode="rgb_array"'
            )
            return None
        self._running("render")
        if self.render_mode == "human":
            self._show()
            return None
        return self._picture()

    def close(self) -> None:
        """Frees the simulator and closes the window; ``reset`` makes new ones."""
        self._progress = None
        if self._window is not None:
            self._window.close()
            self._window = None
        self._drop_simulator()

    def _act(
        self,
        progress: Progress,
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
        self._show()
        info = progress.info(self.reveal_task)
        return self._copy_observation(progress), reward, terminated, truncated, info

    def _waited(self, progress: Progress) -> Step:
        self._show()
        return self._copy_observation(progress), 0.0, False, False, progress.info(self.reveal_task)

    def _act_on_most_central(self, progress: Progress, action: Action) -> Step:
        try:
            choice = most_central(action, self.simulator)
        except SimulatorError:
            return self._act(progress, action, lambda: Choice(None, Failure.NO_TARGET))
        if choice.object_id is not None:
            return self._act(progress, action, lambda: choice)
        # A key is held for longer than a step takes: without a target it counts as no failure.
        progress.action, progress.object_class = action, ObjectClass.NoObject
        progress.target, progress.failure = None, choice.failure
        return self._waited(progress)

    def _try(self, progress: Progress, action: Action, choose: Callable[[], Choice]) -> None:
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

    def _choose_by_class(self, progress: Progress, wanted: ObjectClass) -> Choice:
        if wanted is ObjectClass.NoObject:
            return Choice(None, Failure.NO_TARGET)
        objects = self.simulator.objects
        # What is not in the room cannot be in sight, and looking is the dearest part of a step.
        if not any(state.object_class is wanted for state in objects.values()):
            return Choice(None, Failure.NOT_VISIBLE)
        return choose_by_class(wanted, self.simulator.sight(wanted), objects, progress.pointing)

    def _copy_observation(self, progress: Progress) -> Observation:
        """The observation as the caller's own: no earlier one, and not what ``render`` draws."""
        if self.render_mode is None and not progress.crashed:
            return dict(self._observation)
        return {
            name: part.copy() if isinstance(part, np.ndarray) else part
            for name, part in self._observation.items()
        }

    def _observe(self, frame: Frame, progress: Progress) -> Observation:
        self._object_ids = frame.object_ids
        observation: Observation = {"rgb": frame.rgb}
        if self._render.instances:
            observation["classes"] = frame.classes
            observation["instances"] = frame.instances
        if self._render.depth:
            observation["depth"] = frame.depth
        observation.update(progress.words)
        return observation

    def _show(self) -> None:
        if self.render_mode == "human":
            if self._window is None:
                self._window = Window(PANEL_SIZE, self.metadata["render_fps"])
            self._window.show(self._picture())

    def _picture(self) -> NDArray[np.uint8]:
        progress = self._running("render")
        held = None if progress.crashed else self.simulator.held
        kind = None if held is None else self.simulator.objects[held].object_class
        caption = progress.caption(self.max_steps, kind, self.notes)
        return draw_panel(self._observation["rgb"], caption, self._outline(progress))

    def _outline(self, progress: Progress) -> NDArray[np.bool_] | None:
        """Pixels of the object that was acted on, in the front view."""
        if progress.target is None or progress.crashed or not self._render.instances:
            return None
        if progress.target not in self._object_ids:
            return None
        front: NDArray[np.int16] = self._observation["instances"][View.FRONT]
        return front == self._object_ids.index(progress.target) + 1

    def _drawn_key(self) -> EpisodeKey:
        if not self._pools:
            self._pools = self.selection.pools(self.source, self.split, self.setup)
        pool = self._pools[int(self.np_random.integers(len(self._pools)))]
        return pool[int(self.np_random.integers(len(pool)))].key

    def _begin(self, episode: Episode) -> Progress:
        self.simulator.reset(episode.trajectory.scene)
        annotation = episode.annotation
        checker = GoalChecker(episode.trajectory.task, self._matching)
        progress = Progress(
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

    def _running(self, method: str, alive: bool = False) -> Progress:
        if self._progress is None:
            raise UsageError(f"{method} needs an episode; call reset() first")
        if alive and self._progress.ended:
            raise UsageError(f"{method} after the end of the episode; call reset() first")
        return self._progress
