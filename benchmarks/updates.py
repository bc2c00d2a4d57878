"""Times of one CAMA update and of rollouts, and where the time goes.

``python -m benchmarks.updates`` measures an update at the paper's size on one thread: 32 episodes
with ALFRED's lengths, 11 of them streamed and 21 from memory. The released implementation takes 61
to 74 s and 15 GB for it on this kind of machine. ``--plain`` compares the same update with that of
a network written in the ordinary way, each in a process of its own, whatever the machine. ``--size
small`` measures an update on the small encoder's maps, ``--rollouts`` steps per second with
rendering, encoder and network.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import RolloutConfig, roll_out
from clalfred.agents.episode import EncodedEpisode, ViewFeatures
from clalfred.agents.losses import split_logits
from clalfred.agents.numerics.adam import Adam
from clalfred.agents.numerics.allocation import keep_freed_memory
from clalfred.agents.numerics.arithmetic import make_portable
from clalfred.agents.plain import PlainNetwork
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.agents.two_branch.dropout import DropoutMasks
from clalfred.agents.vision.conv_encoder import ConvEncoder
from clalfred.cl.cama import CAMA
from clalfred.cl.memory import Stored
from gym_clalfred.actions import Action
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Split
from gym_clalfred.language.tokenizer import Tokenizer

#: As ALFRED's: 1,505 steps, the longest episode 126; 88 tokens on average, at most 170.
LENGTHS = (126, 96, 80, *range(70, 42, -2), *range(41, 11, -2))
TOKENS = (170, *range(130, 37, -3))
INTERACTIONS = 7


def demonstrations(config: TwoBranchConfig, dtype: torch.dtype) -> list[EncodedEpisode]:
    """Random episodes with the lengths above."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for number, (steps, words) in enumerate(zip(LENGTHS, TOKENS)):
        actions = torch.randint(0, int(Action.PickupObject), (steps,), generator=generator)
        classes = torch.zeros(steps, dtype=torch.long)
        where = torch.randperm(steps - 1, generator=generator)[:INTERACTIONS]
        actions[where] = int(Action.PickupObject)
        classes[where] = torch.randint(1, 119, (len(where),), generator=generator)
        actions[-1] = int(Action.Stop)
        maps = torch.rand(steps, config.views, config.channels, config.cells, generator=generator)
        maps = (maps * 254 - 127).to(dtype) if dtype == torch.int8 else maps.to(dtype)
        tokens = torch.randint(1, config.vocabulary, (words,), generator=generator)
        features = ViewFeatures.from_dense(maps)
        made.append(EncodedEpisode(f"{number}", features, tokens, actions, classes))
    return made


def make_agent(size: str) -> tuple[CAMA, tuple[EncodedEpisode, ...], tuple[int, ...]]:
    """CAMA with a filled memory, the streamed episodes and the slots to replay."""
    if size == "paper":  # as clalfred.cl.experiment does
        keep_freed_memory()
    else:
        make_portable()
    vocabulary = len(Tokenizer.default())
    config = (
        TwoBranchConfig.paper(vocabulary) if size == "paper" else TwoBranchConfig.small(vocabulary)
    )
    dtype = torch.float16 if size == "paper" else torch.int8
    agent = CAMA(config, device="cpu")
    episodes = demonstrations(config, dtype)
    # Every third is streamed, so that both parts have long and short episodes.
    stream = tuple(episodes[::3])
    for episode in (one for number, one in enumerate(episodes) if number % 3):
        agent.memory.offer(Stored(episode))
    batch = agent.make_batch([agent.memory[slot].episode for slot in range(len(agent.memory))])
    with torch.no_grad():
        logits = split_logits(agent.network(batch), batch)
    for slot, one in enumerate(logits):
        agent.memory.rewrite(slot, one.detached())
    return agent, stream, tuple(range(len(agent.memory)))


@contextmanager
def timed(label: str) -> Iterator[None]:
    """Prints how long the block took, on the clock and on the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"  {label:<34} {wall:8.3f} s   (processor {processor:.3f} s)")


def measure_update(size: str, repeats: int) -> None:
    """Whole updates, their parts, and the operations that take the most time."""
    agent, stream, slots = make_agent(size)
    parameters = sum(weight.numel() for weight in agent.network.parameters())
    print(f"CAMA, {size}: {parameters / 1e6:.1f} million parameters, {sum(LENGTHS)} steps")
    for _ in range(repeats):
        with timed("update"):
            agent._after_update(agent._update(stream, slots))
    batch = agent.make_batch([*stream, *(agent.memory[slot].episode for slot in slots)])
    rate = agent.config.dropout
    masks = DropoutMasks(rate, agent.generator, agent.device) if rate else None
    print("parts:")
    with torch.no_grad(), timed("read the instructions, forward"):
        agent.network.read(batch.tokens, batch.token_lengths)
    with timed("whole forward"):
        loss = agent._loss(agent.network(batch, masks), batch, slots)
    agent.optimizer.zero_grad()
    with timed("backward"):
        loss.backward()
    with timed("clip and optimise"):
        torch.nn.utils.clip_grad_norm_(agent.network.parameters(), 5.0)
        agent.optimizer.step()
    print(f"  peak memory of the process {peak_gigabytes():.2f} GB")
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        agent._update(stream, slots)
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
    agent, stream, slots = make_agent("paper")
    if plain:
        agent.network = PlainNetwork(agent.network)  # type: ignore[assignment]  # same forward
        agent.optimizer = Adam(agent.network.parameters(), agent.training.learning_rate)
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        agent._after_update(agent._update(stream, slots))
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return Cost(*min(times), peak_gigabytes())


def peak_gigabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure_rollouts(tier: str, counts: tuple[int, ...], max_steps: int) -> None:
    """Steps per second in this process, with rendering, encoder and network."""
    source = open_source(tier)
    keys = [entry.key for entry in source.entries(Split.TRAIN)][:64]
    encoder = ConvEncoder()
    agent = CAMA(
        TwoBranchConfig.small(len(Tokenizer.default()), encoder.channels),
        policy=Policy(encoder),
        device="cpu",
    )
    for count in counts:
        config = RolloutConfig(environments=count, max_steps=max_steps)
        list(roll_out(agent, source, keys[:1], config))
        agent.policy = Policy(encoder)  # one that has not seen these rooms before
        wall, processor = time.perf_counter(), time.process_time()
        steps = sum(result.steps for result in roll_out(agent, source, keys, config))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(
            f"rollouts with {count:2d} environments: {steps / wall:6.0f} steps/s"
            f"   (processor {1000 * processor / steps:.2f} ms a step)"
        )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("paper", "small"), default="paper")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="compare with a plain network")
    parser.add_argument("--rollouts", action="store_true", help="measure rollouts instead")
    parser.add_argument("--tier", default="tiny", help="episodes for the rollouts")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.plain:
        compare(options.threads, options.repeats)
    elif options.rollouts:
        measure_rollouts(options.tier, (1, 8, 32), max_steps=40)
    else:
        measure_update(options.size, options.repeats)


if __name__ == "__main__":
    main()
