"""An agent that sees: it plans the next interaction, looks for its class, and walks there.

It sees in one of two ways: ``masks`` are the ground-truth classes and depths of the views, given as
the benchmark gives masks; ``rgb`` are a frozen encoder's guesses at both, from the pictures alone.

The planner reads the words and what was done, and predicts verb and class of the next interaction.
It moves on only when an interaction has worked, so no wrong turn can disturb it. The walker sees
the map and the views filtered by the class that is wanted, and chooses one step. In training the
wanted class is the demonstration's own, so what the walker sees is made once and stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import Agent, AgentConfig, Decision, Head, Observation, Outputs, State
from clalfred.agents.episode import START, Batch
from clalfred.agents.losses import sum_by_episode
from clalfred.agents.semantic_map.network import (
    WALKING,
    ByteDropout,
    Reading,
    SemanticMapConfig,
    SemanticMapNetwork,
    WalkerInput,
    combined,
)
from clalfred.agents.semantic_map.room_map import BITS, GRID, PIXELS, RoomMap, mirrored
from clalfred.agents.vision.encoder import CachedEncoder, VisualEncoder
from clalfred.agents.vision.segmentation import drawn
from gym_clalfred.actions import Action
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.objects import RECEPTACLES, ObjectClass
from gym_clalfred.simulator.contract import View
from gym_clalfred.stream import DemonstratedAction

#: Raised when stored samples are made in another way.
VERSION = 1

#: Classes and depths of the five views.
Picture = tuple[NDArray[np.uint8], NDArray[np.float32]]

_ACTIONS = len(Action)

_MASKS = SemanticMapConfig(
    batch_size=8, learning_rate=1e-3, max_gradient_norm=100.0, image_size=PIXELS
)


class SemanticMap(Agent):
    """Plans from words, remembers where it saw what, and walks by a map that it draws itself.

    Args:
        config: its settings.
        encoder: says what the views show (``segmentation``); ``None`` if it is told.
    """

    config: SemanticMapConfig
    feels = True
    presets: ClassVar[Mapping[str, AgentConfig]] = {
        "masks": _MASKS,
        "rgb": replace(_MASKS, encoder="segmentation"),
    }

    def __init__(self, config: SemanticMapConfig, encoder: VisualEncoder | None = None) -> None:
        super().__init__(config, encoder)
        self._eyes = None if encoder is None else CachedEncoder(encoder)
        self.observes = frozenset({"rgb"} if encoder else {"rgb", "classes", "depth"})
        self.network = SemanticMapNetwork(config)
        bits, numbers, signs = mirrored()
        self._mirror_bits = torch.from_numpy(bits)
        self._mirror_numbers = torch.from_numpy(numbers)
        self._mirror_signs = torch.from_numpy(signs)
        self._mirror_words = mirror_words()

    @property
    def sight(self) -> str:
        """The encoder's name, or ground truth, drawn into a map in this version's way."""
        return f"{'masks' if self.encoder is None else self.encoder.name}-map{VERSION}"

    def new_memory(self) -> RoomMap:
        """An empty map."""
        return RoomMap()

    def see(
        self, observations: Sequence[Observation], memories: Sequence[RoomMap], previous: Tensor
    ) -> dict[str, Tensor]:
        """Draws what is seen into the maps; gives (n,) whether the last action worked.

        An action has worked if it has changed any view.
        """
        worked = []
        pictures = self._pictures(observations)
        for observation, memory, (action, target), picture in zip(
            observations, memories, previous.tolist(), pictures
        ):
            # View by view: mostly the first has changed already.
            changed = memory.views is None or not all(
                map(np.array_equal, observation["rgb"], memory.views)
            )
            if action != START:
                memory.did(action, target, changed)
            memory.views = observation["rgb"]
            memory.see(*picture)
            worked.append(changed and action != START)
        return {"worked": torch.tensor(worked, device=self.device)}

    def encode(
        self, observations: Iterable[Observation], actions: Sequence[DemonstratedAction]
    ) -> dict[str, Tensor]:
        """What the walker sees at every step, packed: some 400 bytes a step."""
        shown = self._pictures(list(observations))
        want, places = _next(actions, [classes for classes, _ in shown])
        memory, bits, numbers = RoomMap(), [], []
        for step, (classes, depth) in enumerate(shown):
            memory.see(classes, depth)
            found = memory.features(want[step], places[step])
            bits.append(np.packbits(found[0]))
            numbers.append(found[1].astype(np.float16))
            memory.did(int(actions[step].action), int(actions[step].target), True)
        return {
            "bits": torch.from_numpy(np.stack(bits)),
            "numbers": torch.from_numpy(np.stack(numbers)),
            "places": torch.tensor(places, dtype=torch.uint8),
        }

    def forward(
        self, batch: Batch, generator: torch.Generator | None = None, teacher_forcing: bool = True
    ) -> Outputs:
        """Actions at all steps, classes at interactions; the place's class as auxiliary loss."""
        drop = ByteDropout(self.config.dropout, generator)
        mirror = self._draw(self.config.mirror, len(batch), generator)
        past = _History(batch)
        tokens = torch.where(
            mirror.unsqueeze(1), self._mirror_words.to(self.device)[batch.tokens], batch.tokens
        )
        reading = self.network.read(tokens, batch.token_lengths, drop)
        states = self._states(past)
        plan, _ = self.network.think(reading, states, drop)
        sight = self._sight(batch, past, mirror[batch.episode], generator)
        here = batch.episode, past.segment
        steps = torch.arange(len(batch.actions), device=self.device)
        number = steps - batch.first_rows[batch.episode]
        walking = self.network.walk(reading, (batch.episode, number), states[here], sight, drop)
        logits = _turned(combined(walking, plan.verb[here]), mirror[batch.episode])
        rows = batch.episode[batch.interactions], past.segment[batch.interactions]
        places = sight.place[batch.interactions]
        place_loss = F.cross_entropy(plan.place[rows], places, reduction="none")
        return Outputs(
            {
                "action": Head(logits, batch.actions, batch.lengths),
                "class": Head(
                    plan.object_class[rows],
                    batch.classes[batch.interactions],
                    batch.interaction_counts,
                ),
            },
            self.config.place_weight * sum_by_episode(place_loss, batch.interaction_counts),
        )

    def start(self, tokens: Tensor, lengths: Tensor) -> State:
        """What is read, and the planner's first state."""
        reading = self.network.read(tokens, lengths, ByteDropout(0.0, None))
        count = len(tokens)
        first = torch.full((count,), START, device=self.device)
        nothing = torch.zeros(count, self.config.track_dim, device=self.device)
        track = self.network.follow(first, torch.zeros_like(first), nothing)
        return {**reading._asdict(), "track": track}

    def act(
        self,
        seen: Mapping[str, Tensor],
        state: State,
        previous: Tensor,
        memories: Sequence[RoomMap],
    ) -> tuple[Decision, State]:
        """Plans, and takes one step towards what is wanted."""
        drop = ByteDropout(0.0, None)
        reading = Reading(*(state[name] for name in Reading._fields))
        interacted = (previous[:, 0] >= WALKING) & (previous[:, 0] < int(Action.Stop))
        track, done = state["track"], (seen["worked"] & interacted).unsqueeze(1)
        if bool(done.any()):
            moved = self.network.follow(previous[:, 0], previous[:, 1], track)
            track = torch.where(done, moved, track)
        plan, attention = self.network.think(reading, track.unsqueeze(1), drop)
        verb, place = plan.verb[:, 0].argmax(1), plan.place[:, 0].argmax(1)
        want = plan.object_class[:, 0, 1:].argmax(1) + 1
        want = torch.where(verb == int(Action.Stop), 0, want)
        sight = self._look(memories, verb, want, place)
        rows = torch.arange(len(verb), device=self.device)
        walking = self.network.walk(reading, (rows, torch.zeros_like(rows)), track, sight, drop)
        shown = {
            "words": attention[:, 0],
            "heat": sight.bits[:, -2 * 5 * GRID * GRID :][:, : 5 * GRID * GRID]
            .reshape(-1, len(View), GRID, GRID)
            .float(),
        }
        # What was done in this very pose, and has led nowhere, is not done again soon.
        logits = combined(walking, plan.verb[:, 0])
        logits = logits - self.config.inhibition * sight.tried[:, :_ACTIONS]
        return Decision(logits, plan.object_class[:, 0], None, shown), {"track": track}

    def _pictures(self, observations: Sequence[Observation]) -> list[Picture]:
        """Classes and depths (5, 84, 84) of what each environment shows: as told, or as seen."""
        if self._eyes is None:
            return [(one["classes"], one["depth"]) for one in observations]
        views = np.stack([one["rgb"] for one in observations])
        seen = drawn(self._eyes.encode(views.reshape(-1, *views.shape[2:])), PIXELS)
        shape = (*views.shape[:2], PIXELS, PIXELS)
        return list(zip(seen.classes.reshape(shape), seen.depth.reshape(shape)))

    def _look(
        self, memories: Sequence[RoomMap], verb: Tensor, want: Tensor, place: Tensor
    ) -> WalkerInput:
        asked = list(zip(memories, want.tolist(), place.tolist()))
        # Rows that only fill up a batch ask what another has asked.
        found = {
            one: (*one[0].features(*one[1:]), one[0].tried(), one[0].failed)
            for one in dict.fromkeys(asked)
        }
        bits, numbers, tried, failed = map(np.stack, zip(*[found[one] for one in asked]))
        tried = np.concatenate([tried, failed[:, None]], 1)
        return WalkerInput(
            torch.from_numpy(bits).to(self.device),
            torch.from_numpy(numbers).half().to(self.device).float(),
            torch.from_numpy(tried).to(self.device).float(),
            verb,
            want,
            place,
        )

    def _states(self, past: _History) -> Tensor:
        """(B, K, track_dim) the planner's state before each interaction of each episode."""
        state = torch.zeros(len(past.verbs), self.config.track_dim, device=self.device)
        states = []
        for number in range(past.verbs.shape[1]):
            state = self.network.follow(past.verbs[:, number], past.classes[:, number], state)
            states.append(state)
        return torch.stack(states, 1)

    def _sight(
        self, batch: Batch, past: _History, mirror: Tensor, generator: torch.Generator | None
    ) -> WalkerInput:
        packed = torch.cat([views["bits"] for views in batch.views])
        bits = torch.from_numpy(np.unpackbits(packed.cpu().numpy(), axis=1, count=BITS))
        bits = bits.to(packed.device)
        bits[mirror] = bits[mirror][:, self._mirror_bits]
        numbers = torch.cat([views["numbers"] for views in batch.views]).float()
        flipped = numbers[:, self._mirror_numbers] * self._mirror_signs.to(numbers.device)
        tried = torch.zeros(len(bits), _ACTIONS + 1, device=bits.device)
        numbers = torch.where(mirror.unsqueeze(1), flipped, numbers)
        if generator is not None:
            self._pretend(
                tried, numbers, past.next_verb, _mirrored_actions(batch, mirror), generator
            )
        return WalkerInput(
            bits,
            numbers,
            tried,
            past.next_verb,
            past.next_class,
            torch.cat([views["places"] for views in batch.views]).long(),
        )

    def _pretend(
        self,
        tried: Tensor,
        numbers: Tensor,
        verb: Tensor,
        action: Tensor,
        generator: torch.Generator,
    ) -> None:
        """At some steps, says that wrong actions were tried here, half of them in vain just now."""
        count = len(tried)

        def draw(*shape: int) -> Tensor:
            return torch.rand(shape, generator=generator).to(tried.device)

        chosen = draw(count) < self.config.tried
        wrong = draw(count, _ACTIONS) < 0.35
        wrong[:, WALKING:] = False
        rows = torch.arange(count, device=tried.device)
        wrong[rows, verb] = draw(count) < 0.3
        wrong[rows, action] = False
        wrong &= chosen.unsqueeze(1)
        tried[:, :_ACTIONS] = wrong.float()
        failed = (draw(count) < 0.5) & wrong.any(1)
        last = (wrong * draw(count, _ACTIONS)).argmax(1)
        numbers[failed, 84 : 84 + _ACTIONS] = F.one_hot(last[failed], _ACTIONS).to(numbers.dtype)
        tried[failed, _ACTIONS] = 1.0

    def _draw(self, share: float, count: int, generator: torch.Generator | None) -> Tensor:
        if generator is None:
            return torch.zeros(count, dtype=torch.bool, device=self.device)
        return (torch.rand(count, generator=generator) < share).to(self.device)


class _History:
    """What was done before each step of a batch, and what is done next.

    A segment is the way to one interaction, or to Stop.
    """

    def __init__(self, batch: Batch) -> None:
        ends = batch.actions >= WALKING
        done = ends.long().cumsum(0) - ends.long()
        #: (N,) number of the segment within its episode.
        self.segment = done - done[batch.first_rows][batch.episode]
        rows = ends.nonzero().flatten()
        after = torch.searchsorted(rows, torch.arange(len(ends), device=ends.device))
        #: (N,) verb and class of the interaction that ends the segment.
        self.next_verb = batch.actions[rows[after]]
        self.next_class = batch.classes[rows[after]]
        count = int(self.segment.max()) + 1
        #: (B, K) verb and class of the interaction before each segment.
        self.verbs = torch.full((len(batch), count), START, device=ends.device)
        self.classes = torch.zeros_like(self.verbs)
        inner = rows[batch.actions[rows] != int(Action.Stop)]
        place = batch.episode[inner], self.segment[inner] + 1
        self.verbs[place], self.classes[place] = batch.actions[inner], batch.classes[inner]


def _next(
    actions: Sequence[DemonstratedAction], shown: Sequence[NDArray[np.uint8]]
) -> tuple[list[int], list[int]]:
    """For every step the class of the next interaction, and the class of what holds it."""
    want, places, wanted, held_by = [], [], 0, 0
    for step in reversed(range(len(actions))):
        done = actions[step]
        if int(done.action) >= WALKING:
            wanted = int(done.target)
            held_by = holder(shown[step][View.FRONT], wanted) if wanted else 0
        want.append(wanted)
        places.append(held_by)
    return want[::-1], places[::-1]


def holder(front: NDArray[np.uint8], target: int) -> int:
    """The receptacle class that shows most around a target in the front view; 0 for none."""
    rows, columns = np.nonzero(front == target)
    if not len(rows):
        return 0
    top, left = max(rows.min() - 3, 0), max(columns.min() - 3, 0)
    around = front[top : rows.max() + 4, left : columns.max() + 4].ravel()
    counts = np.bincount(around[around != target], minlength=len(ObjectClass)) * _HOLDS
    return int(counts.argmax()) if counts.any() else 0


_HOLDS = np.array([one in RECEPTACLES for one in ObjectClass])


def mirror_words() -> Tensor:
    """(words,) every word's own index, left and right changed for each other."""
    words = Tokenizer.default().words
    index = torch.arange(len(words))
    left, right = words.index("left"), words.index("right")
    index[left], index[right] = right, left
    return index


def _mirrored_actions(batch: Batch, mirror: Tensor) -> Tensor:
    swap = torch.arange(_ACTIONS, device=mirror.device)
    swap[int(Action.RotateLeft)], swap[int(Action.RotateRight)] = (
        int(Action.RotateRight),
        int(Action.RotateLeft),
    )
    return torch.where(mirror, swap[batch.actions], batch.actions)


def _turned(logits: Tensor, mirror: Tensor) -> Tensor:
    """Logits of mirrored episodes as if they had not been mirrored."""
    order = list(range(_ACTIONS))
    left, right = int(Action.RotateLeft), int(Action.RotateRight)
    order[left], order[right] = right, left
    return torch.where(mirror.unsqueeze(1), logits[:, order], logits)
