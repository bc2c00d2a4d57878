"""Times of one CAMA update and of rollouts, and where the time goes.

``python -m benchmarks.updates`` measures an update at the paper's size on one thread: 32 episodes
with ALFRED's lengths, 11 of them streamed and 21 from memory. The released implementation takes 61
to 74 s and 15 GB for it on this kind of machine. ``--plain`` compares the same update with that of
a network written in the ordinary way, each in a process of its own, whatever the machine. ``--size
small`` measures an update on the small encoder's maps, ``--size masks`` one of ER with the default
agent, ``--rollouts`` the steps per second of a trained agent on validation episodes, with their
resets, rendering and network.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from statistics import median
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from clalfred.agents.acting.rollout import RolloutConfig, roll_out
from clalfred.agents.agent import Agent
from clalfred.agents.episode import EncodedEpisode, EncodedViews
from clalfred.agents.numerics.allocation import keep_freed_memory
from clalfred.agents.numerics.arithmetic import make_portable
from clalfred.agents.plain import PlainTwoBranch
from clalfred.agents.registry import make_agent
from clalfred.agents.semantic_map.room_map import BITS, NUMBERS
from clalfred.agents.two_branch.agent import TwoBranch
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.agents.two_branch.maps import dense_views
from clalfred.agents.vision.conv_encoder import ConvEncoder
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.cl.cama import CAMA
from clalfred.cl.er import ER
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.memory import MemoryItem
from gym_clalfred.actions import Action
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Split
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.stream import first_annotations

#: As ALFRED's: 1,505 steps, the longest episode 126; 88 tokens on average, at most 170.
LENGTHS = (126, 96, 80, *range(70, 42, -2), *range(41, 11, -2))
TOKENS = (170, *range(130, 37, -3))
INTERACTIONS = 7


class Sizes(VisualEncoder):
    """Says how large maps are: 512 channels as ResNet-18's, or the small encoder's."""

    image_size, cells, name = 300, 49, "random"

    def __init__(self, channels: int) -> None:
        self.channels = channels

    def _encode(self, images: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("the episodes have their maps already")


def demonstrations(channels: int, dtype: torch.dtype) -> list[EncodedEpisode]:
    """Random episodes with the lengths above."""
    vocabulary = len(Tokenizer.default())
    generator = torch.Generator().manual_seed(0)
    made = []
    for number, (steps, words) in enumerate(zip(LENGTHS, TOKENS)):
        actions = torch.randint(0, int(Action.PickupObject), (steps,), generator=generator)
        classes = torch.zeros(steps, dtype=torch.long)
        where = torch.randperm(steps - 1, generator=generator)[:INTERACTIONS]
        actions[where] = int(Action.PickupObject)
        classes[where] = torch.randint(1, 119, (len(where),), generator=generator)
        actions[-1] = int(Action.Stop)
        maps = torch.rand(steps, 5, channels, 49, generator=generator)
        maps = (maps * 254 - 127).to(dtype) if dtype == torch.int8 else maps.to(dtype)
        tokens = torch.randint(1, vocabulary, (words,), generator=generator)
        views = EncodedViews(dense_views(maps))
        made.append(EncodedEpisode(f"{number}", views, tokens, actions, classes))
    return made


def make_learner(
    size: str, kind: type[Agent] = TwoBranch
) -> tuple[CAMA, tuple[EncodedEpisode, ...], tuple[int, ...]]:
    """CAMA with a filled memory, the streamed episodes and the slots to replay."""
    if size == "paper":  # as clalfred.cl.experiment does
        keep_freed_memory()
    else:
        make_portable()
    paper = size == "paper"
    config = TwoBranchConfig.paper() if paper else TwoBranchConfig.small()
    channels, dtype = (512, torch.float16) if paper else (ConvEncoder.channels, torch.int8)
    agent = CAMA(kind(config, Sizes(channels)), device="cpu")
    episodes = demonstrations(channels, dtype)
    # Every third is streamed, so that both parts have long and short episodes.
    stream = tuple(episodes[::3])
    for episode in (one for number, one in enumerate(episodes) if number % 3):
        agent.memory.add(MemoryItem(episode))
    batch = agent.make_batch([agent.memory[slot].episode for slot in range(len(agent.memory))])
    with torch.no_grad():
        logits = agent.agent(batch).logits_by_episode()
    for slot, one in enumerate(logits):
        agent.memory.rewrite(slot, one)
    return agent, stream, tuple(range(len(agent.memory)))


def mapped(episode: EncodedEpisode) -> EncodedEpisode:
    """An episode as the default agent keeps it, with random views."""
    generator, steps = torch.Generator().manual_seed(0), len(episode)
    views = {
        "bits": torch.randint(0, 256, (3, steps, -(-BITS // 8)), generator=generator),
        "numbers": torch.rand(steps, NUMBERS, generator=generator).half(),
        "places": torch.randint(0, 119, (steps,), generator=generator).to(torch.uint8),
    }
    # An eighth of the bits are set, as about so many are in rooms.
    views["bits"] = (views["bits"][0] & views["bits"][1] & views["bits"][2]).to(torch.uint8)
    return replace(episode, views=EncodedViews(views))


def measure_default_update(repeats: int) -> None:
    """Updates of ER on 8 episodes with the default agent, by its time on the processor."""
    make_portable()
    keep_freed_memory()
    learner = ER(make_agent("semantic-map"), device="cpu")
    stream = tuple(map(mapped, demonstrations(1, torch.int8)[1::4]))
    learner.update(stream, ())
    times = []
    for _ in range(repeats):
        processor = time.process_time()
        learner.update(stream, ())
        times.append(1000 * (time.process_time() - processor))
    steps = sum(len(episode) for episode in stream)
    print(
        f"ER, default agent: {len(stream)} episodes, {steps} steps: {min(times):.1f} ms an update, "
        f"median {median(times):.1f} ms (processor)"
    )


@contextmanager
def timed(label: str) -> Iterator[None]:
    """Prints how long the block took, on the clock and on the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"  {label:<34} {wall:8.3f} s   (processor {processor:.3f} s)")


def measure_update(size: str, repeats: int) -> None:
    """Whole updates, their parts, and the operations that take the most time."""
    agent, stream, slots = make_learner(size)
    parameters = sum(weight.numel() for weight in agent.agent.parameters())
    print(f"CAMA, {size}: {parameters / 1e6:.1f} million parameters, {sum(LENGTHS)} steps")
    for _ in range(repeats):
        with timed("update"):
            agent.after_update(agent.update(stream, slots))
    batch = agent.make_batch([*stream, *(agent.memory[slot].episode for slot in slots)])
    print("parts:")
    with torch.no_grad(), timed("read the instructions, forward"):
        agent.agent.start(batch.tokens, batch.token_lengths)
    with timed("whole forward"):
        loss = agent.loss(agent.forward(batch), slots)
    agent.optimizer.zero_grad()
    with timed("backward"):
        loss.backward()
    with timed("clip and optimise"):
        torch.nn.utils.clip_grad_norm_(agent.agent.parameters(), 5.0)
        agent.optimizer.step()
    print(f"  peak memory of the process {peak_gigabytes():.2f} GB")
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        agent.update(stream, slots)
    table = profiler.key_averages().table(
        sort_by="self_cpu_time_total", row_limit=12, max_name_column_width=32
    )
    print(table)


class Cost(NamedTuple):
    """Of the fastest of some updates: seconds on clock and processor, and the peak memory."""

    wall: float
    processor: float
    gigabytes: float


def compare(threads: int, repeats: int) -> None:
    """An update at the paper's size with our network, with the plain one, and the ratios."""
    costs = []
    for plain in (False, True):
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as child:
            cost = child.submit(cost_of_update, plain, threads, repeats).result()
        costs.append(cost)
        print(
            f"{'plain' if plain else 'ours':<6} {cost.wall:7.2f} s"
            f"   (processor {cost.processor:.2f} s)   {cost.gigabytes:5.2f} GB",
            flush=True,
        )
    ratio = Cost(*(theirs / ours for ours, theirs in zip(*costs)))
    print(
        f"{'ratio':<6} {ratio.wall:7.2f}     (processor {ratio.processor:.2f})"
        f"     {ratio.gigabytes:5.2f}"
    )


def cost_of_update(plain: bool, threads: int, repeats: int) -> Cost:
    """What an update of CAMA costs in this process, which should have done nothing else."""
    torch.set_num_threads(threads)
    agent, stream, slots = make_learner("paper", PlainTwoBranch if plain else TwoBranch)
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        agent.after_update(agent.update(stream, slots))
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return Cost(*min(times), peak_gigabytes())


def peak_gigabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure_rollouts(agent: str, tier: str, counts: tuple[int, ...]) -> None:
    """Steps per second of a trained agent in this process, all of its evaluation included."""
    source = open_source(tier)
    splits = (Split.VALID_SEEN, Split.VALID_UNSEEN)
    keys = [one.key for split in splits for one in first_annotations(source.entries(split), 1)]
    policy, run = load_agent(agent, device="cpu")
    keep_freed_memory()  # as all commands do
    list(roll_out(policy, source, keys[:8], RolloutConfig(max_steps=run.step_limit)))
    for count in counts:
        config = RolloutConfig(environments=count, max_steps=run.step_limit)
        policy, _ = load_agent(agent, device="cpu")  # one that has not seen these rooms before
        wall, processor = time.perf_counter(), time.process_time()
        steps = sum(result.steps for result in roll_out(policy, source, keys, config))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(
            f"rollouts with {count:2d} environments: {steps / wall:6.0f} steps/s"
            f"   (processor {1000 * processor / steps:.2f} ms a step)"
        )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("paper", "small", "masks"), default="paper")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="compare with a plain network")
    parser.add_argument("--rollouts", action="store_true", help="measure rollouts instead")
    parser.add_argument("--agent", default="joint-masks", help="a trained agent for the rollouts")
    parser.add_argument("--tier", default="small", help="episodes for the rollouts")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.plain:
        compare(options.threads, options.repeats)
    elif options.rollouts:
        measure_rollouts(options.agent, options.tier, (1, 8, 32))
    elif options.size == "masks":
        measure_default_update(options.repeats)
    else:
        measure_update(options.size, options.repeats)


if __name__ == "__main__":
    main()
