"""AI2-THOR as a ``Simulator``, kept alive: watched, restarted, and never left behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import LOOK_DEGREES, MOVE_METRES, ROTATE_DEGREES, Action
from gym_clalfred.errors import BadInputError, SimulatorError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    LEAST_PIXELS,
    PITCH_RANGE,
    SIGHT_PIXELS,
    SUCCESS,
    AgentPose,
    Failure,
    Frame,
    ObjectState,
    Outcome,
    RenderOptions,
    Scene,
    Sight,
    Simulator,
    View,
)
from gym_clalfred.simulator.thor.link import (
    CameraView,
    Event,
    Link,
    decode_colours,
    installed_version,
    make_link,
    resample,
    resample_nearest,
)
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.states import (
    PriorPlace,
    class_of_entry,
    place_of,
    pose_of,
    refusal_of,
    states_of,
)
from gym_clalfred.simulator.treatments import TREATMENTS, treatment_of

T = TypeVar("T")


class ThorSimulator(Simulator):
    """The household of the installed AI2-THOR, 5.0.0 or ALFRED's own 2.1.0.

    Rules that ALFRED adds are decided here, so that a refusal has the same reason in every
    backend: what can be acted on must be visible and within reach. Everything else is AI2-THOR's.

    Args:
        render: what ``frame`` contains. 2.1.0 has no screens under 300 pixels; smaller images are
            made from those.
        rooms: not used; AI2-THOR has its own rooms.
        options: how to start it; by default what the environment says.
    """

    def __init__(
        self,
        render: RenderOptions = RenderOptions(),  # noqa: B008 - frozen, so sharing it is safe
        rooms: object = None,
        options: ThorOptions | None = None,
    ) -> None:
        self.render = render
        self.options = ThorOptions.from_environment() if options is None else options
        self.label = label_of(self.options)
        self._link: Link | None = None
        self._event: Event | None = None
        self._version = 0
        self._states: Mapping[str, ObjectState] | None = None
        self._views: tuple[CameraView, ...] | None = None
        self._sight: Sight | None = None
        self._pose: AgentPose | None = None
        self._forget()

    def reset(self, scene: Scene) -> None:
        """Builds the scene, starting AI2-THOR anew if it is broken.

        Raises:
            BadInputError: if a sound AI2-THOR refuses the scene, which is not tried again.
            UsageError: if as many run as may on this machine, which is not tried again either.
        """
        self._forget()
        self._event = None
        wait = self.options.back_off
        for attempt in range(self.options.tries):
            if attempt:
                time.sleep(wait)
                wait *= 2
            try:
                self._restore(scene)
                return
            except SimulatorError as error:
                self.close()
                last = error
        raise SimulatorError(
            f"AI2-THOR failed {self.options.tries} times to load {scene.floor_plan}: {last}"
        ) from last

    def step(self, action: Action, target: str | None = None) -> Outcome:
        """Does one action."""
        if self._event is None:
            raise UsageError("step was called before reset, or after the simulator broke")
        if action == Action.Stop:
            return SUCCESS
        if action.is_interaction:
            return self._interact(Action(action), target)
        outcome = self._navigate(Action(action))
        self._look_anew()
        return outcome

    def frame(self) -> Frame:
        """The five views."""
        if self._views is None:
            self._views = self._guarded(lambda: self._living().shoot(self.agent, self.held))
        views = self._views
        rgb = np.stack([view.rgb for view in views])
        instances = classes = None
        if self.render.instances:
            instances = np.stack([self._decode(view) for view in views])
        depth = None
        if self.render.depth:
            depth = np.stack([view.depth for view in views if view.depth is not None])
        size = self.render.image_size
        if size != rgb.shape[1]:
            rgb = resample(rgb, size)
            instances = None if instances is None else resample_nearest(instances, size)
            depth = None if depth is None else resample_nearest(depth, size)
        if instances is not None:
            classes = self._classes[instances]
        return Frame(rgb, instances, classes, depth, tuple(self._ids))

    def sight(self, about: ObjectClass | None = None) -> Sight:
        """The agent's view without what it holds; complete, whatever it is about."""
        if self._sight is None:
            instances = resample_nearest(self._decode(self._front())[None], SIGHT_PIXELS)[0]
            instances.flags.writeable = False
            visible = frozenset(
                str(entry["objectId"])
                for entry in self._metadata["objects"]
                if entry["visible"] and entry["objectId"] in self._indices
            )
            carried = self._carried
            self._sight = Sight(instances, tuple(self._ids), visible.difference(carried))
        return self._sight

    @property
    def objects(self) -> Mapping[str, ObjectState]:
        """All objects by id; a held object's position is where it was picked up."""
        if self._states is None:
            states = states_of(self._metadata["objects"], self._marks, self._carried)
            self._states = MappingProxyType(states)
        return self._states

    @property
    def version(self) -> int:
        """Grows whenever an object's state may have changed."""
        return self._version

    @property
    def agent(self) -> AgentPose:
        """The agent's pose."""
        if self._pose is None:
            self._pose = pose_of(self._metadata)
        return self._pose

    @property
    def held(self) -> str | None:
        """Id of the held object."""
        inventory = self._metadata["inventoryObjects"]
        return str(inventory[0]["objectId"]) if inventory else None

    def reachable(self) -> NDArray[np.float64]:
        """(N, 2) grid points x, z that can be walked to, sorted."""
        return self._guarded(lambda: _grid_points(self._living().reachable()))

    def teleport(self, pose: AgentPose) -> Outcome:
        """Puts the agent at a pose; what it holds comes along and stops it nowhere."""
        forced = self.held is not None
        event = self._guarded(lambda: self._living().teleport(pose, forced=forced))
        self._take(event)
        self._look_anew()
        return SUCCESS if event.success else Outcome(Failure.BLOCKED, event.message)

    def close(self) -> None:
        """Ends AI2-THOR."""
        link, self._link = self._link, None
        self._event = None
        if link is not None:
            link.close()

    @property
    def _metadata(self) -> dict[str, Any]:
        if self._event is None:
            raise UsageError("the simulator has no scene: call reset first")
        return self._event.metadata

    def _living(self) -> Link:
        if self._link is None:
            raise UsageError("the simulator has no scene: call reset first")
        return self._link

    def _forget(self) -> None:
        """Leaves the episode before behind."""
        self._ids: list[str] = []
        self._indices: dict[str, int] = {}
        self._classes = np.zeros(1, dtype=np.uint8)
        self._marks: dict[str, set[str]] = {one.mark: set() for one in TREATMENTS.values()}
        self._carried: dict[str, PriorPlace] = {}
        self._states = None
        self._table: dict[str, int] = {}
        self._keys = np.zeros(0, dtype=np.uint32)
        self._values = np.zeros(0, dtype=np.int16)
        self._look_anew()

    def _look_anew(self) -> None:
        self._views = None
        self._sight = None
        self._pose = None

    def _guarded(self, call: Callable[[], T]) -> T:
        """The result of a call to AI2-THOR; whatever goes wrong in it is a broken simulator."""
        try:
            return call()
        except (UsageError, BadInputError):
            raise
        except Exception as error:
            self.close()
            raise SimulatorError(f"AI2-THOR broke: {error.__class__.__name__}: {error}") from error

    def _restore(self, scene: Scene) -> None:
        if self._link is None:
            self._link = make_link(self.render, self.options)
        link = self._link
        self._guarded(lambda: link.load(scene))
        event = self._guarded(lambda: link.teleport(scene.start))
        if not event.success:
            raise BadInputError(
                f"the agent cannot start at x {scene.start.x}, z {scene.start.z} in "
                f"{scene.floor_plan}: {event.message}"
            )
        self._take(event)
        self._changed()

    def _take(self, event: Event) -> None:
        """Makes an event the present one; new objects get indices behind the others."""
        self._event = event
        for entry in event.metadata["objects"]:
            name = str(entry["objectId"])
            kind = None if name in self._indices else class_of_entry(entry)
            if kind is None:
                continue
            self._ids.append(name)
            self._indices[name] = len(self._ids)
            self._classes = np.append(self._classes, np.uint8(kind))
            # A table that was read before may have its colour, but not its index.
            self._table = {}

    def _changed(self) -> None:
        self._states = None
        self._version += 1
        self._look_anew()

    def _decode(self, view: CameraView) -> NDArray[np.int16]:
        if view.table != self._table:
            self._read(view.table)
        return decode_colours(view.colours, self._keys, self._values)

    def _read(self, table: dict[str, int]) -> None:
        """Finds the instance that each colour means; 0 for what ALFRED does not know."""
        pairs = sorted((colour, self._indices.get(name, 0)) for name, colour in table.items())
        self._keys = np.array([colour for colour, _ in pairs], dtype=np.uint32)
        self._values = np.array([index for _, index in pairs], dtype=np.int16)
        self._table = table

    def _front(self) -> CameraView:
        """The agent's own view, with its hands empty."""
        link, held = self._living(), self.held
        shown = self._views is not None and self.render.view_angles[View.FRONT] == (0, 0)
        if shown and held is None and link.side == SIGHT_PIXELS:
            assert self._views is not None
            return self._views[View.FRONT]
        return self._guarded(lambda: link.sight(held))

    def _navigate(self, action: Action) -> Outcome:
        link = self._living()
        if action in (Action.LookUp, Action.LookDown):
            degrees = LOOK_DEGREES if action == Action.LookDown else -LOOK_DEGREES
            if not PITCH_RANGE[0] <= self.agent.pitch + degrees <= PITCH_RANGE[1]:
                return Outcome(Failure.LOOK_LIMIT)
            event = self._guarded(lambda: link.look(degrees, self.agent))
            failure = Failure.LOOK_LIMIT
        elif action == Action.MoveAhead:
            event = self._guarded(lambda: link.move(MOVE_METRES))
            failure = Failure.BLOCKED
        else:
            event = self._guarded(lambda: link.turn(action.name, ROTATE_DEGREES))
            failure = Failure.BLOCKED
        self._take(event)
        return SUCCESS if event.success else Outcome(failure, event.message)

    def _interact(self, action: Action, target: str | None) -> Outcome:
        failure = self._refusal(action, target)
        if failure is not None:
            return Outcome(failure)
        assert target is not None
        link, held = self._living(), self.held
        before = {str(e["objectId"]): e for e in self._metadata["objects"]}
        if action == Action.PutObject:
            assert held is not None
            event = self._guarded(lambda: link.put(held, target, images=False))
        else:
            event = self._guarded(lambda: link.do(action.name, images=False, objectId=target))
        self._take(event)
        if not event.success:
            self._look_anew()
            no_space = action == Action.PutObject
            return Outcome(Failure.NO_SPACE if no_space else Failure.SIMULATOR, event.message)
        if action == Action.PickupObject:
            names = (target, *self.objects[target].contents)
            self._carried = {name: place_of(before[name]) for name in names}
        elif action == Action.PutObject:
            self._carried = {}
        self._changed()
        self._mark(action, target)
        return SUCCESS

    def _mark(self, action: Action, target: str) -> None:
        if target not in self.objects:
            return
        found = treatment_of(action, target, self.objects)
        if found is not None:
            treatment, object_ids = found
            self._marks[treatment.mark].update(object_ids)
            self._changed()

    def _refusal(self, action: Action, target: str | None) -> Failure | None:
        if target is None:
            return Failure.NO_TARGET
        if target not in self.objects:
            return Failure.UNKNOWN_TARGET
        sight = self.sight()
        if target not in sight.visible:
            in_view = int(sight.mask(target).sum()) >= LEAST_PIXELS
            return Failure.TOO_FAR if in_view else Failure.NOT_VISIBLE
        entry = next(e for e in self._metadata["objects"] if e["objectId"] == target)
        held = self.held
        holding = None if held is None else self.objects[held].object_class
        return refusal_of(action, self.objects[target].object_class, entry, holding)


def _grid_points(positions: list[dict[str, float]]) -> NDArray[np.float64]:
    """(N, 2) x, z of AI2-THOR's positions, sorted."""
    points = sorted((round(at["x"], 4), round(at["z"], 4)) for at in positions)
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def label_of(options: ThorOptions) -> str:
    """Backend, version and build, for results."""
    version = installed_version()
    return f"thor-{version}-{options.build or official_build()}"


def official_build() -> str:
    """The name of the Unity build that the installed AI2-THOR downloads."""
    from ai2thor import _builds

    commit = getattr(_builds, "COMMIT_ID", None)
    if commit:
        return str(commit)[:8]
    # 2.1.0 names its builds by date: thor-201909061227-Linux64.zip.
    return str(_builds.BUILDS["Linux"]["url"]).rsplit("/", 1)[-1].split("-")[1]
