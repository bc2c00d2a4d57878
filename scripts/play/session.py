"""One person's session on the page: which episode, whose worlds, and what each message does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.bundled import bundled_agents
from clalfred.cl.experiment.config import RunConfig
from clalfred.scripts.play.documents import pack, pictures, world_document
from clalfred.scripts.play.saving import save_demonstration
from clalfred.scripts.play.scoring import PlayScore
from clalfred.scripts.play.world import ROAMING_STEPS, PlayedEpisode, WatchedAgent
from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.tiers import tier_folder
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.options import MAX_STEPS
from gym_clalfred.possible_actions import KEYS
from gym_clalfred.rooms import RoomType
from gym_clalfred.selection import Selection
from gym_clalfred.stream import first_annotations
from gym_clalfred.tasks.spec import task_types

#: What the page calls a folder given with ``--data``.
OWN_DATA = "data"

#: Agents that fit side by side.
MOST_AGENTS = 2

Message = Mapping[str, Any]


@dataclass(frozen=True)
class EpisodeChoice:
    """Which episodes to go through.

    Args:
        tier: generated episodes, or ``data`` for the folder that was given.
        split: of them.
        task: only this task type; empty for all.
        room: only this room type or scene number; empty for all.
        roam: walk freely: no goal, no failures that end it, no step limit.
    """

    tier: str = "tiny"
    split: str = Split.TRAIN.value
    task: str = ""
    room: str = ""
    roam: bool = False


@dataclass
class Library:
    """What all sessions share: the data, the agents and where to save.

    Args:
        choice: what a new session begins with.
        data: folder with other episodes than the tiers'.
        performers: the agents that a new session begins with.
        save: folder for demonstrations.
        score: a person's score in the making.
    """

    choice: EpisodeChoice = field(default_factory=EpisodeChoice)
    data: str | None = None
    performers: Sequence[WatchedAgent] = ()
    save: Path = Path("demonstrations")
    score: PlayScore | None = None

    def __post_init__(self) -> None:
        self._sources: dict[str, EpisodeSource] = {}
        self._bundled: dict[str, WatchedAgent] = {}

    def tiers(self) -> list[str]:
        """The data that can be chosen at once: a tier that has yet to be made takes minutes."""
        if self.data is not None:
            return [OWN_DATA]
        ready = (name for name, tier in TIERS.items() if tier_folder(tier).is_dir())
        return list(dict.fromkeys((self.choice.tier, *ready)))

    def source(self, tier: str) -> EpisodeSource:
        """The episodes of a tier, or of the folder."""
        if tier not in self.tiers():
            raise BadInputError(f"tier {tier!r}: expected one of {', '.join(self.tiers())}")
        if tier not in self._sources:
            self._sources[tier] = open_source(tier, self.data)
        return self._sources[tier]

    def agents(self) -> list[str]:
        """The agents that can be watched: those that were given, then the bundled ones."""
        given = [performer.title for performer in self.performers]
        short = {title.partition(":")[0] for title in given}
        return [*given, *(name for name in bundled_agents() if name not in short)]

    def performer(self, name: str) -> WatchedAgent:
        """One of ``agents()``; a bundled one is loaded when it is first asked for."""
        for given in self.performers:
            if given.title == name:
                return given
        if name not in self.agents():
            raise BadInputError(f"agent {name!r}: expected one of {', '.join(self.agents())}")
        if name not in self._bundled:
            self._bundled[name], _ = load_performer(name, name)
        return self._bundled[name]

    def keys(self, choice: EpisodeChoice) -> tuple[EpisodeKey, ...]:
        """The episodes that were chosen, one of each trajectory."""
        known = [split.value for split in Split]
        if choice.split not in known:
            raise BadInputError(f"split {choice.split!r}: expected one of {', '.join(known)}")
        room: Any = int(choice.room) if choice.room.isdecimal() else choice.room
        selection = Selection.parse(choice.task or None, room or None)
        entries = selection.entries(self.source(choice.tier), Split(choice.split))
        return tuple(entry.key for entry in first_annotations(entries, 1))


def load_performer(name: str, path: str | Path) -> tuple[WatchedAgent, RunConfig]:
    """A trained agent under the name that the page shows, and the run that trained it."""
    policy, config = load_agent(path, device="cpu")
    title = f"{name}: {config.method_title}, {config.setup}, seed {config.seed}"
    return WatchedAgent(title, policy), config


class Session:
    """What one tab of the browser shows.

    Args:
        library: what there is.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._choice = library.choice
        self._agents = [performer.title for performer in library.performers]
        self._keys: tuple[EpisodeKey, ...] = ()
        self._number = 0
        self._note = ""
        self.worlds: list[PlayedEpisode] = []

    def handle(self, message: Message) -> bytes:
        """Does what a message asks for, and gives what the page is to show."""
        what = message.get("do")
        handler = _HANDLERS.get(what) if isinstance(what, str) else None
        if handler is None:
            raise BadInputError(f"do {what!r}: expected one of {', '.join(_HANDLERS)}")
        if not self.worlds:
            self._begin()
        for world in self.worlds:
            world.wake()
        self._note = ""
        whole = handler(self, message)
        return self._reply(whole)

    def sleep(self) -> None:
        """Frees the simulators until the next message."""
        for world in self.worlds:
            world.sleep()

    def _show(self, message: Message) -> bool:
        return True

    def _choose(self, message: Message) -> bool:
        self._refuse_in_score("other episodes")
        choice = EpisodeChoice(
            _text(message, "tier"),
            _text(message, "split"),
            _text(message, "task", ""),
            _text(message, "room", ""),
            bool(message.get("roam", False)),
        )
        keys = self._library.keys(choice)  # raises before anything is lost
        number = _number(message, "number", 0)
        agents = _names(message, "agents", self._agents)
        for name in agents:
            self._library.performer(name)
        before = self._choice.tier, self._choice.roam, self._agents
        if (choice.tier, choice.roam, agents) != before:
            self._drop_worlds()
        self._choice, self._keys, self._agents = choice, keys, agents
        self._number = number % len(keys)
        self._begin()
        return True

    def _turn(self, message: Message) -> bool:
        score = self._library.score
        if score is not None:
            if score.next is None:
                self._note = "All episodes are done. Thank you!"
                return True
            if not self.worlds[0].ended:
                raise UsageError("finish this episode first: press Enter when you are done")
        else:
            self._number = (self._number + _number(message, "by", 1)) % len(self._keys)
        self._begin()
        return True

    def _restart(self, message: Message) -> bool:
        self._refuse_in_score("a second try")
        self._begin()
        return True

    def _act(self, message: Message) -> bool:
        world = self._world(message)
        action = _action(message)
        target = message.get("object")
        if target is not None and not isinstance(target, str):
            raise BadInputError(f"object {target!r}: expected an object's id")
        if self._choice.roam and action is Action.Stop:
            raise UsageError("there is no task to finish in free roaming")
        if not world.act(action, target):
            self._note = "Nothing in reach that this applies to. Move closer or look around."
        if world.ended:
            self._ended(world)
        return False

    def _agent(self, message: Message) -> bool:
        self._refuse_in_score("an agent")
        acted = [world.let_agent_act() for world in self.worlds]
        if not any(acted):
            self._note = "The episode is over." if self._agents else "No agent here."
        return False

    def _go_to(self, message: Message) -> bool:
        self._refuse_in_score("going back")
        step = _number(message, "step")
        for world in self.worlds:
            world.go_to(step)
        return False

    def _save(self, message: Message) -> bool:
        self._refuse_in_score("saving")
        world = self._world(message)
        saved = save_demonstration(
            self._library.save,
            self._library.source(self._choice.tier),
            world.episode,
            world.done,
            name=_text(message, "name", ""),
        )
        self._note = f"Replayed with success and saved: {saved.path} ({saved.actions} actions)."
        if not saved.by_class:
            self._note += " An agent that names only a class would mean another object."
        return False

    def _ended(self, world: PlayedEpisode) -> None:
        if self._choice.roam:
            world.forget_failures()
        elif self._library.score is not None:
            self._library.score.add(world.result())

    def _begin(self) -> None:
        score = self._library.score
        if score is None and not self._keys:
            self._keys = self._library.keys(self._choice)
        if not self.worlds:
            self.worlds = self._new_worlds()
        key = self._keys[self._number] if score is None else score.next or score.keys[-1]
        for world in self.worlds:
            world.begin(key)

    def _new_worlds(self) -> list[PlayedEpisode]:
        score = self._library.score
        if score is not None:
            return [PlayedEpisode(score.source, max_steps=score.max_steps)]
        steps = ROAMING_STEPS if self._choice.roam else MAX_STEPS
        source = self._library.source(self._choice.tier)
        performers = [self._library.performer(name) for name in self._agents]
        return [PlayedEpisode(source, one, max_steps=steps) for one in performers or (None,)]

    def _drop_worlds(self) -> None:
        self.sleep()
        self.worlds = []

    def _refuse_in_score(self, what: str) -> None:
        if self._library.score is not None:
            raise UsageError(f"{what}: not while the score counts")

    def _world(self, message: Message) -> PlayedEpisode:
        index = _number(message, "world", 0)
        if not 0 <= index < len(self.worlds):
            raise BadInputError(f"world {index}: expected 0 to {len(self.worlds) - 1}")
        return self.worlds[index]

    def _reply(self, whole: bool) -> bytes:
        score = self._library.score
        hints = score is None
        document: dict[str, Any] = {
            "note": self._note,
            "worlds": [
                world_document(world, with_room=whole, hints=hints) for world in self.worlds
            ],
        }
        if score is not None:
            document["score"] = {
                "done": score.done,
                "succeeded": score.succeeded,
                "count": len(score.keys),
                "file": str(score.path),
            }
        if whole:
            document.update(self._options())
        blobs = [blob for world in self.worlds for blob in pictures(world)]
        return pack(document, blobs)

    def _options(self) -> dict[str, Any]:
        """What can be chosen, and what was."""
        split = Split(self._choice.split)
        score = self._library.score
        document: dict[str, Any] = {
            "keys": {key: action.name for key, action in KEYS.items()},
            "save": str(self._library.save),
        }
        if score is not None:
            return document
        entries = self._library.source(self._choice.tier).entries(split)
        numbers = sorted({room_of(one.key.trajectory) for one in entries})
        return {
            **document,
            "choice": vars(self._choice),
            "number": self._number,
            "count": len(self._keys),
            "episode": str(self._keys[self._number]),
            "agents": self._library.agents(),
            "watched": self._agents,
            "tiers": self._library.tiers(),
            "splits": [one.value for one in Split],
            "tasks": [one.paper_name for one in task_types()],
            "rooms": [*(one.value for one in RoomType), *map(str, numbers)],
        }


#: What each message does; gives whether the page is to be told everything.
_HANDLERS: dict[str, Callable[[Session, Message], bool]] = {
    "show": Session._show,
    "choose": Session._choose,
    "turn": Session._turn,
    "restart": Session._restart,
    "act": Session._act,
    "agent": Session._agent,
    "go_to": Session._go_to,
    "save": Session._save,
}


def _action(message: Message) -> Action:
    name = message.get("action")
    if not isinstance(name, str) or name not in Action.__members__:
        raise BadInputError(f"action {name!r}: expected one of {', '.join(Action.__members__)}")
    return Action[name]


def _text(message: Message, name: str, default: str | None = None) -> str:
    value = message.get(name, default)
    if not isinstance(value, str):
        raise BadInputError(f"{name} {value!r}: expected a text")
    return value


def _names(message: Message, name: str, default: list[str]) -> list[str]:
    value = message.get(name, default)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadInputError(f"{name} {value!r}: expected a list of texts")
    if len(value) > MOST_AGENTS:
        raise BadInputError(f"{name}: expected at most {MOST_AGENTS}, found {len(value)}")
    return value


def _number(message: Message, name: str, default: int | None = None) -> int:
    value = message.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > ROAMING_STEPS:
        raise BadInputError(f"{name} {value!r}: expected a whole number up to {ROAMING_STEPS}")
    return value
