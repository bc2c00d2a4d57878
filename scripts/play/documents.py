"""What the page is told of a world, as plain values and pictures."""

from __future__ import annotations

import io
import json
import re
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from clalfred.agents.semantic_map.room_map import RoomMap
from clalfred.scripts.play.saving import current_steps
from clalfred.scripts.play.world import PlayedEpisode
from gym_clalfred.actions import Action
from gym_clalfred.env import MAX_FAILURES
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.objects import OPENABLE, PICKUPABLE, SLICED_FORM, TOGGLEABLE, ObjectClass
from gym_clalfred.possible_actions import TARGETS, applies
from gym_clalfred.simulator.contract import SIGHT_PIXELS, ObjectState, Sight

#: Quality of the pictures: no artefact that a person sees, and fast to make.
JPEG_QUALITY = 93

#: Classes of which the agent's probabilities are told.
CLASSES_TOLD = 6

_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def plain_name(kind: ObjectClass) -> str:
    """A class in plain words: ``DiningTable`` is ``dining table``."""
    return _BETWEEN_WORDS.sub(" ", kind.name).lower()


def world_document(world: PlayedEpisode, *, with_room: bool, hints: bool = True) -> dict[str, Any]:
    """The state of a world.

    Args:
        world: which.
        with_room: whether to tell what stays the same throughout the episode.
        hints: whether to tell the goal conditions and the map, which an agent is not told.
    """
    last = world.done[-1] if world.step else None
    held = world.simulator.objects.get(world.simulator.held or "")
    document: dict[str, Any] = {
        "title": world.performer.title if world.performer else "",
        "step": world.step,
        "length": len(world.deeds),
        "failures": world.info["failures"],
        "max_failures": MAX_FAILURES,
        "ended": world.ended,
        "success": bool(world.info.get("success", False)),
        "held": plain_name(held.object_class) if held else "",
        "last": None,
        "deeds": [[one.action.name, one.by_agent, one.reason is None] for one in world.deeds],
        "objects": _objects(world),
    }
    if last is not None:
        document["last"] = {
            "action": last.action.name,
            "object": plain_name(last.object_class) if last.object_class else "",
            "by_agent": last.by_agent,
            "reason": last.reason,
        }
    if hints:
        document["conditions"] = [[text, met] for text, met in world.conditions]
        document["map"] = _map(world)
        document["now"] = current_steps(world.episode.trajectory, world.done)
    if with_room:
        annotation = world.episode.annotation
        document["goal"], document["instructions"] = annotation.goal, list(annotation.steps)
        if hints:
            points = world.simulator.reachable()
            document["floor"] = [[round(float(x), 2), round(float(z), 2)] for x, z in points]
    suggestion = _suggestion(world)
    if suggestion is not None:
        document["agent"] = suggestion
    return document


def pack(document: dict[str, Any], blobs: Sequence[bytes]) -> bytes:
    """One message: the length of the JSON, the JSON, then the blobs whose lengths it tells."""
    text = json.dumps({**document, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"".join([struct.pack("<I", len(text)), text, *blobs])


def unpack(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The inverse of ``pack``."""
    (length,) = struct.unpack_from("<I", message)
    document = json.loads(message[4 : 4 + length])
    blobs, place = [], 4 + length
    for size in document["blobs"]:
        blobs.append(message[place : place + size])
        place += size
    return document, blobs


def pictures(world: PlayedEpisode) -> tuple[bytes, bytes]:
    """The views as one JPEG, and the instance at each pixel of 300 x 300 views, deflated.

    The front view is at the top. The other four are below it, in two rows of half its size.
    """
    front, *others = world.observation["rgb"]
    side = len(front)
    image = Image.new("RGB", (side, 2 * side))
    image.paste(Image.fromarray(front))
    small = Image.fromarray(np.concatenate(others)).reduce(2)
    for number in range(len(others)):
        across, down = number % 2 * side // 2, side + number // 2 * side // 2
        image.paste(
            small.crop((0, number * side // 2, side // 2, (number + 1) * side // 2)), (across, down)
        )
    buffer = io.BytesIO()
    image.save(buffer, "jpeg", quality=JPEG_QUALITY, subsampling=0)
    step = side // SIGHT_PIXELS
    instances = world.observation["instances"][:, ::step, ::step].astype("<u2")
    return buffer.getvalue(), zlib.compress(instances.tobytes(), 1)


def state_words(state: ObjectState, contents: Sequence[str] = ()) -> str:
    """What is worth telling of an object: ``open, holds an apple``."""
    kind = state.object_class
    words = []
    if kind in OPENABLE:
        words.append("open" if state.is_open else "closed")
    if kind in TOGGLEABLE:
        words.append("on" if state.is_on else "off")
    marks = ("is_sliced", "sliced"), ("is_dirty", "dirty"), ("cleaned", "cleaned")
    for mark, word in (*marks, ("heated", "heated"), ("cooled", "cooled")):
        if getattr(state, mark):
            words.append(word)
    if contents and not (kind in OPENABLE and not state.is_open):
        words.append("holds " + ", ".join(contents))
    return ", ".join(words)


def _objects(world: PlayedEpisode) -> dict[str, Any]:
    """What can be pointed at, by its number in the views."""
    simulator = world.simulator
    sight, objects = simulator.sight(), simulator.objects
    held = objects.get(simulator.held or "")
    told = {}
    for number, name in enumerate(sight.object_ids, start=1):
        state = objects.get(name)
        if state is None:
            continue
        inside = [plain_name(objects[one].object_class) for one in state.contents if one in objects]
        told[str(number)] = {
            "id": name,
            "name": plain_name(state.object_class),
            "state": "in your hand" if held and name == held.id else state_words(state, inside),
            "reach": name in sight.visible,
            "verbs": _verbs(name, state, held, sight),
        }
    return told


def _verbs(name: str, state: ObjectState, held: ObjectState | None, sight: Sight) -> list[str]:
    if name not in sight.visible or (held is not None and name == held.id):
        return []
    return [action.name for action in TARGETS if applies(action, state, held)]


def _map(world: PlayedEpisode) -> dict[str, Any]:
    """The room from above: the agent and the boxes of all objects, big ones first.

    The last value of a box says whether the task is about its class.
    """
    simulator, task = world.simulator, world.episode.trajectory.task
    wanted = {task.target, SLICED_FORM.get(task.target), task.receptacle, task.movable, task.lamp}
    wanted.update(task.others)
    boxes = []
    for state in simulator.objects.values():
        x, y, z = state.position
        width, height, depth = state.size
        small = state.object_class in PICKUPABLE
        if small and state.id == simulator.held:
            continue
        boxes.append(
            [
                plain_name(state.object_class),
                *(round(value, 2) for value in (x, z, width, depth)),
                round(state.rotation[1]),
                small,
                round(y + height, 2),
                state.object_class in wanted,
            ]
        )
    boxes.sort(key=lambda box: (box[6], box[7]))
    agent = simulator.agent
    return {"agent": [agent.x, agent.z, agent.yaw], "boxes": boxes}


def _suggestion(world: PlayedEpisode) -> dict[str, Any] | None:
    """What the agent would do next, and what it reads and looks for where it tells."""
    suggestion = world.suggestion()
    if suggestion is None or world.performer is None:
        return None
    decision = suggestion.state.decision
    assert decision is not None
    actions = torch.softmax(decision.action_logits[0].float(), 0).tolist()
    classes = torch.softmax(decision.class_logits[0, 1:].float(), 0)
    best = torch.topk(classes, CLASSES_TOLD)
    told: dict[str, Any] = {
        "action": suggestion.action.name,
        "object": plain_name(suggestion.object_class) if suggestion.object_class else "",
        "actions": [[action.name, round(actions[action], 4)] for action in Action],
        "classes": [
            [plain_name(ObjectClass(int(index) + 1)), round(float(value), 4)]
            for value, index in zip(best.values, best.indices)
        ],
    }
    memory = suggestion.state.memory
    if isinstance(memory, RoomMap):
        told["memory"] = _memory(world, memory, int(classes.argmax()) + 1)
    if decision.progress is not None:
        told["progress"] = round(float(decision.progress.mean()), 3)
    if "words" in decision.shown:
        tokens = world.performer.policy.tokens(world.observation)
        words = Tokenizer.default().words
        weights = decision.shown["words"][0].tolist()
        told["words"] = [
            [words[int(token)], round(weight, 4)] for token, weight in zip(tokens, weights)
        ]
    if "heat" in decision.shown:
        heat = decision.shown["heat"][0].float()
        heat = heat / heat.abs().max().clamp_min(1e-6)
        told["heat"] = [[[round(v, 2) for v in row] for row in view] for view in heat.tolist()]
    return told


def _memory(world: PlayedEpisode, memory: RoomMap, wanted: int) -> dict[str, Any]:
    """The agent's map, which begins with its first heading, turned as the room is from above."""
    cells, (x, z, yaw) = memory.drawing(wanted)
    turns = round(world.episode.trajectory.scene.start.yaw / 90) % 4
    for _ in range(turns):
        x, z, cells = z, len(cells) - 1 - x, np.rot90(cells, -1)
    return {"cells": cells.tolist(), "agent": [x, z, (yaw + turns) % 4]}
