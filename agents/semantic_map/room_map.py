"""What an agent remembers of a room: which class it saw where, where it can walk, what it did.

The map is egocentric: it begins where the agent starts and follows its own moves, which are exact,
0.25 m and 90 degrees. It is filled from the classes and depths of the five views alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.jit import kernel

#: Side of the views that are taken in, and cells of a view per side.
PIXELS = 84
CELLS = 14

#: Cells of the map per side, 0.25 m each; the agent starts in the middle.
SIDE = 80
MIDDLE = SIDE // 2

#: Things seen in one step at most: a class in a cell of a view.
MOST_SIGHTINGS = 4096

#: How far the crop around the agent reaches, in cells: ahead, behind, to each side.
AHEAD, BEHIND, BESIDE = 10, 4, 7
ROWS, COLUMNS = AHEAD + BEHIND + 1, 2 * BESIDE + 1
CROP = ROWS * COLUMNS

#: Layers of the crop: the wanted class, where I put one, the place's class, obstacles, floor.
LAYERS = 5

#: Cells of a view per side in the features.
GRID = 7
BITS = LAYERS * CROP + 2 * 5 * GRID * GRID
NUMBERS = 98

#: The camera's height over the floor, and how near the held object is.
EYE = 1.575
HELD_WITHIN = 0.75

FLOOR, OBSTACLE = 1, 2

#: In drawings, where the wanted class was seen.
WANTED = 3

_VIEW_YAW = np.array([0, -1, 1, 0, 0], np.int64)
_VIEW_PITCH = np.array([0, 0, 0, -15, 15], np.float64)
_EAST = np.array([0, 1, 0, -1], np.int64)
_NORTH = np.array([1, 0, -1, 0], np.int64)
_STEP = np.uint64(PIXELS // CELLS)
_FOCAL = (PIXELS / 2) / math.tan(math.radians(30.0))


class _LatestView(NamedTuple):
    """What the last look showed.

    ``where`` (n, 3): view, cell and class; ``what`` (n, 7): pixels, mean and least depth, column
    and row from -1 to 1, and the map's cell.
    """

    where: NDArray[np.int64]
    what: NDArray[np.float32]


class _Maps(NamedTuple):
    """The height code of every class in every cell, the ground, and where I put which class."""

    height: NDArray[np.uint8]
    ground: NDArray[np.uint8]
    placed: NDArray[np.uint8]


class _Pose(NamedTuple):
    x: int
    z: int
    yaw: int
    pitch: int


class RoomMap:
    """The map of one episode."""

    def __init__(self) -> None:
        self._maps = _Maps(
            np.zeros((len(ObjectClass), SIDE, SIDE), np.uint8),
            np.zeros((SIDE, SIDE), np.uint8),
            np.zeros((SIDE, SIDE), np.uint8),
        )
        self._sightings = _LatestView(
            np.zeros((MOST_SIGHTINGS, 3), np.int64), np.zeros((MOST_SIGHTINGS, 7), np.float32)
        )
        self._seen = 0
        self._pose = _Pose(MIDDLE, MIDDLE, 0, 30)
        self._held = 0
        self._inside: dict[int, int] = {}
        self._put: tuple[int, int] | None = None
        self._just_put = 0
        #: Where the last interaction was, and what was done since.
        self._start = self._pose
        self._steps = 0
        self._previous = -1
        self._tried: dict[_Pose, NDArray[np.uint8]] = {}
        self.failed = False
        self.views: Any = None

    def see(self, classes: NDArray[np.uint8], depth: NDArray[np.float32]) -> None:
        """Takes in what the five views show: classes and depths (5, 84, 84)."""
        carried = self._inside.get(self._held, 0) if self._held else 0
        self._seen = _see(
            classes, depth, self._pose, self._held, carried, self._maps, self._sightings
        )
        if self._just_put:
            _mark_placed(self._sightings, self._seen, self._just_put, self._pose, self._maps.placed)
            self._just_put = 0

    def did(self, action: int, object_class: int, success: bool) -> None:
        """Takes note of an action, before the next look."""
        tried = self._tried.setdefault(self._pose, np.zeros(len(Action), np.uint8))
        tried[action] = 1
        self._previous, self.failed = action, not success
        self._steps += 1
        x, z, yaw, pitch = self._pose
        if action == Action.MoveAhead:
            x = min(max(x + int(_EAST[yaw]), 1), SIDE - 2)
            z = min(max(z + int(_NORTH[yaw]), 1), SIDE - 2)
            if not success:
                self._maps.ground[x, z] = OBSTACLE
        if not success:
            return
        if action in (Action.RotateLeft, Action.RotateRight):
            yaw = (yaw + (1 if action == Action.RotateRight else 3)) % 4
        elif action in (Action.LookUp, Action.LookDown):
            pitch += 15 if action == Action.LookDown else -15
        elif Action(action).is_interaction:
            self._interacted(action, object_class)
        self._pose = _Pose(x, z, yaw, pitch)

    def drawing(self, want: int) -> tuple[NDArray[np.uint8], tuple[int, int, int]]:
        """The explored part of the map for people, and the agent's cell in it and quarter turns.

        Cells (x, z) are 0 where unknown, ``FLOOR``, ``OBSTACLE``, or ``WANTED`` where the wanted
        class was seen.
        """
        cells = self._maps.ground.copy()
        if want:
            cells[self._maps.height[want] > 0] = WANTED
        x, z, yaw, _ = self._pose
        known = cells > 0
        known[x, z] = True
        columns, rows = np.nonzero(known.any(1))[0], np.nonzero(known.any(0))[0]
        left, low = int(columns[0]), int(rows[0])
        shown = cells[left : columns[-1] + 1, low : rows[-1] + 1]
        return shown, (x - left, z - low, yaw)

    @property
    def pose(self) -> tuple[int, int, int, int]:
        """The cell it stands in, quarter turns to the right, and degrees down."""
        return self._pose.x, self._pose.z, self._pose.yaw, self._pose.pitch

    @property
    def ground(self) -> NDArray[np.uint8]:
        """(SIDE, SIDE) what is ``FLOOR``, what is ``OBSTACLE``, and 0 where nothing is known."""
        return self._maps.ground

    def where(self, wanted: int) -> NDArray[np.float64]:
        """(n, 3) cells in which a class was seen, but not those where I put one, and its height."""
        found = (self._maps.height[wanted] > 0) & (self._maps.placed != wanted)
        x, z = np.nonzero(found)
        return np.stack([x, z, (self._maps.height[wanted][x, z] - 2) * 0.1], 1)

    def tried(self) -> NDArray[np.uint8]:
        """(A,) which actions were done in this very pose since the last interaction."""
        return self._tried.get(self._pose, np.zeros(len(Action), np.uint8))

    def features(self, want: int, place: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """What there is to see of a wanted class and of the class of its place.

        Bits (``BITS``,): the crop of the map around the agent, and in which cells of the views the
        two classes show. Numbers (``NUMBERS``,): how large, central and near they are, where the
        map has them, the way since the last interaction, the pitch and the last action.
        """
        bits, numbers = np.zeros(BITS, np.uint8), np.zeros(NUMBERS, np.float32)
        best = _crop(self._pose, want, place, self._maps, bits)
        _views(self._sightings, self._seen, want, place, self._maps.placed, bits, numbers)
        _places(best, numbers)
        self._journey(numbers)
        return bits, numbers

    def _interacted(self, action: int, object_class: int) -> None:
        if action == Action.PickupObject:
            _forget(self._sightings, self._seen, object_class, self._maps)
            self._held = object_class
        elif action == Action.PutObject:
            cell = _front_cell(self._sightings, self._seen, object_class)
            ahead = self._pose.x + 2 * int(_EAST[self._pose.yaw])
            beside = self._pose.z + 2 * int(_NORTH[self._pose.yaw])
            self._put = (cell // SIDE, cell % SIDE) if cell >= 0 else (ahead, beside)
            self._just_put, self._inside[object_class] = self._held, self._held
            self._held = 0
        self._start, self._steps, self._tried = self._pose, 0, {}

    def _journey(self, numbers: NDArray[np.float32]) -> None:
        pose, start = self._pose, self._start
        if self._put is not None:
            ahead, right = _relative(pose, *self._put)
            numbers[66:69] = 1, ahead / 10, right / 10
        ahead, right = _relative(pose, start.x, start.z)
        numbers[69:71] = ahead / 10, right / 10
        numbers[71 + (pose.yaw - start.yaw) % 4] = 1
        numbers[75 + min(max((pose.pitch + 30) // 15, 0), 6)] = 1
        numbers[82:84] = self._steps / 10, math.log(1.0 + self._steps)
        if self._previous >= 0:
            numbers[84 + self._previous] = 1
        numbers[97] = self._held > 0


def _relative(pose: _Pose, x: int, z: int) -> tuple[int, int]:
    """How far a cell is ahead of the agent and to its right."""
    east, north = int(_EAST[pose.yaw]), int(_NORTH[pose.yaw])
    dx, dz = x - pose.x, z - pose.z
    return dx * east + dz * north, dx * north - dz * east


@kernel()
def _see(classes, depth, pose, held, carried, maps, sightings):  # type: ignore[no-untyped-def]
    count = 0
    tally = np.zeros((12, 6))  # class, pixels, sum and least of depths, sums of columns and rows
    for view in range(5):
        gaze = _gaze(pose, view)
        # A slice costs too much to be made in every cell.
        labels, distances = classes[view], depth[view]
        for cell in range(CELLS * CELLS):
            kinds = _tally(labels, distances, cell, tally)
            for kind in range(kinds):
                pixels = tally[kind, 1]
                near = tally[kind, 3] < HELD_WITHIN
                if pixels < 2 or count >= MOST_SIGHTINGS:
                    continue
                label = int(tally[kind, 0])
                if near and label in (held, carried):
                    continue
                mean = tally[kind, 2] / pixels
                column, row = tally[kind, 4] / pixels, tally[kind, 5] / pixels
                x, z, height = _cell_of(pose, gaze, column, row, mean)
                if x < 0:
                    continue
                maps.height[label, x, z] = min(max(int(height / 0.1) + 2, 1), 40)
                where, what = sightings.where[count], sightings.what[count]
                where[0], where[1], where[2] = view, cell, label
                what[0], what[1], what[2] = pixels, mean, tally[kind, 3]
                what[3] = (column + 0.5) / (PIXELS / 2) - 1
                what[4] = (row + 0.5) / (PIXELS / 2) - 1
                what[5], what[6] = x, z
                count += 1
            _see_ground(labels, distances, cell, pose, gaze, (held, carried), maps.ground)
    return count


@kernel()
def _tally(classes, depth, cell, tally):  # type: ignore[no-untyped-def]
    """Sums over the pixels of each class in a cell of a view; gives how many classes there are."""
    # Unsigned, or every index would be tested for wrapping around.
    top, left = np.uint64(cell // CELLS) * _STEP, np.uint64(cell % CELLS) * _STEP
    first, alike = classes[top, left], True
    for row in range(top, top + _STEP):
        for column in range(left, left + _STEP):
            alike &= classes[row, column] == first
    if alike and first == 0:
        return 0
    kinds, current, last = 0, 0, -1
    pixels, columns, rows, total, least = 0, 0, 0, 0.0, 0.0
    for row in range(top, top + _STEP):
        for column in range(left, left + _STEP):
            label = classes[row, column]
            if label != current:
                # Neighbours mostly show the same class, whose sums are written when it ends.
                if last >= 0:
                    _write(tally, last, pixels, total, least, columns, rows)
                current, last = label, -1
                for kind in range(kinds):
                    if tally[kind, 0] == label:
                        last = kind
                if last < 0 and label > 0 and kinds < len(tally):
                    last = kinds
                    tally[last, 0] = label
                    _write(tally, last, 0, 0.0, 1e9, 0, 0)
                    kinds += 1
                if last >= 0:
                    pixels, total, least = int(tally[last, 1]), tally[last, 2], tally[last, 3]
                    columns, rows = int(tally[last, 4]), int(tally[last, 5])
            if last >= 0:
                distance = depth[row, column]
                pixels += 1
                total += distance
                least = min(least, distance)
                columns += int(column)
                rows += int(row)
    if last >= 0:
        _write(tally, last, pixels, total, least, columns, rows)
    return kinds


@kernel()
def _write(tally, kind, pixels, total, least, columns, rows):  # type: ignore[no-untyped-def]
    tally[kind, 1], tally[kind, 2], tally[kind, 3] = pixels, total, least
    tally[kind, 4], tally[kind, 5] = columns, rows


@kernel()
def _gaze(pose, view):  # type: ignore[no-untyped-def]
    """Sine and cosine of a view's pitch; how far east and north its ahead and its right are."""
    tilt = math.radians(pose.pitch + _VIEW_PITCH[view])
    yaw = (pose.yaw + _VIEW_YAW[view]) % 4
    beside = (yaw + 1) % 4
    ahead = float(_EAST[yaw]), float(_NORTH[yaw])
    return math.sin(tilt), math.cos(tilt), *ahead, float(_EAST[beside]), float(_NORTH[beside])


@kernel()
def _cell_of(pose, gaze, column, row, distance):  # type: ignore[no-untyped-def]
    """The map's cell of a point in a view and its height; a cell of -1 lies outside."""
    sine, cosine, east, north, east_right, north_right = gaze
    right = (column + 0.5 - PIXELS / 2) / _FOCAL * distance
    up = (PIXELS / 2 - row - 0.5) / _FOCAL * distance
    ahead = distance * cosine + up * sine
    height = EYE - distance * sine + up * cosine
    x = pose.x + (ahead * east + right * east_right) / 0.25
    z = pose.z + (ahead * north + right * north_right) / 0.25
    column, row = math.floor(x + 0.5), math.floor(z + 0.5)
    if column < 0 or row < 0 or column >= SIDE or row >= SIDE:
        return -1, -1, height
    return column, row, height


@kernel()
def _see_ground(classes, depth, cell, pose, gaze, mine, ground):  # type: ignore[no-untyped-def]
    """Two pixels of a cell of a view tell floor from obstacles; what is mine is neither."""
    for number in range(2):
        row = np.uint64(cell // CELLS) * _STEP + np.uint64(1 + 3 * number)
        column = np.uint64(cell % CELLS) * _STEP + np.uint64(1 + 3 * number)
        label, distance = classes[row, column], depth[row, column]
        if distance <= 0 or (label > 0 and label in mine and distance < HELD_WITHIN):
            continue
        x, z, height = _cell_of(pose, gaze, np.float64(column), np.float64(row), distance)
        if x < 0 or height > 1.8:
            continue
        if height >= 0.1:
            ground[x, z] = OBSTACLE
        elif ground[x, z] == 0:
            ground[x, z] = FLOOR


@kernel()
def _mark_placed(sightings, count, label, pose, placed):  # type: ignore[no-untyped-def]
    """Where the class that was just put down shows ahead, it is the one that I put there."""
    for index in range(count):
        view, seen = sightings.where[index, 0], sightings.where[index, 2]
        x, z = int(sightings.what[index, 5]), int(sightings.what[index, 6])
        near = abs(x - pose.x) <= 7 and abs(z - pose.z) <= 7
        if seen == label and view != 1 and view != 2 and near:
            placed[max(x - 1, 0) : x + 2, max(z - 1, 0) : z + 2] = label


@kernel()
def _forget(sightings, count, label, maps):  # type: ignore[no-untyped-def]
    """What was picked up in front is not there any more."""
    for index in range(count):
        if sightings.where[index, 2] == label and sightings.where[index, 0] == 0:
            x, z = int(sightings.what[index, 5]), int(sightings.what[index, 6])
            for a in range(max(x - 1, 0), min(x + 2, SIDE)):
                for b in range(max(z - 1, 0), min(z + 2, SIDE)):
                    maps.height[label, a, b] = 0
                    if maps.placed[a, b] == label:
                        maps.placed[a, b] = 0


@kernel()
def _front_cell(sightings, count, label):  # type: ignore[no-untyped-def]
    """The cell of the nearest, most central sighting of a class in the front view, or -1."""
    best, cell = 1e9, -1
    for index in range(count):
        if sightings.where[index, 2] == label and sightings.where[index, 0] == 0:
            what = sightings.what[index]
            distance = what[1] * (1 + 0.3 * (what[3] ** 2 + what[4] ** 2))
            if distance < best:
                best, cell = distance, int(what[5]) * SIDE + int(what[6])
    return cell


@kernel()
def _crop(pose, want, place, maps, bits):  # type: ignore[no-untyped-def]
    """Fills in the crop; gives (3, 4) the distance, ahead, right and height of the nearest."""
    best = np.zeros((3, 4))
    best[:, 0] = 1e9
    east, north = _EAST[pose.yaw], _NORTH[pose.yaw]
    for x in range(SIDE):
        for z in range(SIDE):
            ground = maps.ground[x, z]
            wanted = maps.height[want, x, z] if want > 0 else 0
            held_by = maps.height[place, x, z] if place > 0 else 0
            if ground == 0 and wanted == 0 and held_by == 0:
                continue
            ahead = (x - pose.x) * east + (z - pose.z) * north
            right = (x - pose.x) * north - (z - pose.z) * east
            inside = -BEHIND <= ahead <= AHEAD and -BESIDE <= right <= BESIDE
            row = min(max(ahead, -BEHIND), AHEAD) + BEHIND
            cell = row * COLUMNS + min(max(right, -BESIDE), BESIDE) + BESIDE
            if inside and ground == OBSTACLE:
                bits[3 * CROP + cell] = 1
            if inside and ground == FLOOR:
                bits[4 * CROP + cell] = 1
            distance = math.sqrt(ahead * ahead + right * right)
            if wanted > 0:
                layer = 1 if maps.placed[x, z] == want else 0
                bits[layer * CROP + cell] = 1
                if distance < best[layer, 0]:
                    best[layer, 0], best[layer, 1] = distance, ahead
                    best[layer, 2], best[layer, 3] = right, (wanted - 2) * 0.1
            if held_by > 0:
                bits[2 * CROP + cell] = 1
                if distance < best[2, 0]:
                    best[2, 0], best[2, 1] = distance, ahead
                    best[2, 2], best[2, 3] = right, (held_by - 2) * 0.1
    return best


@kernel()
def _views(sightings, count, want, place, placed, bits, numbers):  # type: ignore[no-untyped-def]
    """In which cells of the views the two classes show, and how large, central and near."""
    sums = np.zeros((2, 5, 5))  # pixels, sums of columns, rows and depths, least depth
    sums[:, :, 4] = 1e9
    for index in range(count):
        where, what = sightings.where[index], sightings.what[index]
        view, cell, label = where[0], where[1], where[2]
        for kind in range(2):
            if label == 0 or label != (want if kind == 0 else place):
                continue
            if kind == 0 and placed[int(what[5]), int(what[6])] == want:
                continue
            coarse = cell // CELLS * GRID // CELLS * GRID + cell % CELLS * GRID // CELLS
            bits[LAYERS * CROP + (kind * 5 + view) * GRID * GRID + coarse] = 1
            part = sums[kind, view]
            part[0] += what[0]
            part[1] += what[0] * what[3]
            part[2] += what[0] * what[4]
            part[3] += what[0] * what[1]
            part[4] = min(part[4], what[2])
    for view in range(5):
        part = sums[0, view]
        if part[0] > 0:
            at = numbers[6 * view : 6 * view + 6]
            at[0], at[1] = 1, math.log(1 + part[0]) / 6
            at[2], at[3] = part[1] / part[0], part[2] / part[0]
            at[4], at[5] = part[3] / part[0] / 3, part[4] / 3
        part = sums[1, view]
        if part[0] > 0:
            at = numbers[30 + 4 * view : 34 + 4 * view]
            at[0], at[1] = 1, part[1] / part[0]
            at[2], at[3] = part[2] / part[0], part[3] / part[0] / 3


def _places(best: NDArray[np.float64], numbers: NDArray[np.float32]) -> None:
    """Where on the map the wanted class, the one that I put, and the place are nearest."""
    wanted, mine, place = best
    if wanted[0] < 1e8:
        distance, ahead, right, height = wanted
        far = max(distance, 0.5)
        numbers[50:54] = 1, ahead / 10, right / 10, distance / 10
        numbers[54:57] = height / 2, right / far, ahead / far
    if mine[0] < 1e8:
        numbers[57:61] = 1, mine[1] / 10, mine[2] / 10, mine[0] / 10
    if place[0] < 1e8:
        numbers[61:65] = 1, place[1] / 10, place[2] / 10, place[0] / 10
        numbers[65] = place[3] / 2


def mirrored() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """What a mirror does: the places of bits and of numbers, and the numbers' signs."""
    bits, views = np.arange(BITS), [0, 2, 1, 3, 4]
    crops = bits[: LAYERS * CROP].reshape(LAYERS, ROWS, COLUMNS)[:, :, ::-1]
    grids = bits[LAYERS * CROP :].reshape(2, 5, GRID, GRID)[:, views, :, ::-1]
    index, sign = np.arange(NUMBERS), np.ones(NUMBERS, np.float32)
    index[:30] = index[:30].reshape(5, 6)[views].ravel()
    index[30:50] = index[30:50].reshape(5, 4)[views].ravel()
    sign[[2, 8, 14, 20, 26, 31, 35, 39, 43, 47, 52, 55, 59, 63, 68, 70]] = -1
    left, right = 84 + int(Action.RotateLeft), 84 + int(Action.RotateRight)
    index[[72, 74, left, right]] = [74, 72, right, left]
    return np.concatenate([crops.ravel(), grids.ravel()]), index, sign
