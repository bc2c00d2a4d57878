"""Sessions of ``clalfred-play``: watching, taking over, demonstrations and a person's score."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import gymnasium
import pytest
from PIL import Image

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.recording import Performer, trace_of
from clalfred.agents.acting.result_file import read_results
from clalfred.agents.semantic_map.room_map import FLOOR, OBSTACLE
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.inputs import new_agent
from clalfred.scripts.play.documents import plain_name, unpack
from clalfred.scripts.play.saving import save_demonstration, solves
from clalfred.scripts.play.scoring import PlayScore
from clalfred.scripts.play.session import EpisodeChoice, Library, Session
from clalfred.scripts.play.world import PlayedEpisode, WatchedAgent
from gym_clalfred.actions import Action
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.store import StoreInfo, write_info, write_rooms
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.setups import ENV_IDS
from gym_clalfred.stream import TaskStream, demonstration_of
from tests.helpers.followers import Follower
from tests.helpers.play_sessions import PLACE, expert, solve, told
from tests.helpers.runs import untrained_agent

# Watching and taking over.


@pytest.fixture(scope="module")
def micro(tmp_path_factory: pytest.TempPathFactory) -> WatchedAgent:
    policy, _ = load_agent(untrained_agent(tmp_path_factory.mktemp("agent")), device="cpu")
    return WatchedAgent("micro", policy)


@pytest.fixture(scope="module")
def mapper() -> WatchedAgent:
    config = RunConfig(tier="tiny", agent="semantic-map")
    return WatchedAgent("mapper", Policy(new_agent(config).eval()))


@pytest.mark.parametrize("name", ["micro", "mapper"])
def test_watching_is_what_the_agent_does(
    name: str, request: pytest.FixtureRequest, library: Library
) -> None:
    performer = request.getfixturevalue(name)
    library.performers = [performer]
    session = Session(library)
    key = library.keys(PLACE)[0]
    source = library.source("tiny")
    trace = trace_of(Performer("", performer.policy), source, key, max_steps=8)
    suggestions = [told(session, "show")["worlds"][0]["agent"]]
    for _ in trace:
        suggestions.append(told(session, "agent")["worlds"][0].get("agent"))
    deeds = session.worlds[0].deeds
    assert [(one.action, one.by_agent) for one in deeds] == [(one.action, True) for one in trace]
    # Going back shows what was suggested then, also for an agent that builds a map.
    told(session, "go_to", step=2)
    assert told(session, "show")["worlds"][0]["agent"] == suggestions[2]
    assert told(session, "agent")["worlds"][0]["agent"] == suggestions[3]
    session.sleep()


def test_what_an_agent_reads_and_looks_for(library: Library, mapper: WatchedAgent) -> None:
    library.performers = [mapper]
    session = Session(library)
    agent = told(session, "show")["worlds"][0]["agent"]
    assert abs(sum(value for _, value in agent["actions"]) - 1) < 0.01
    words = [word for word, _ in agent["words"]]
    assert words[0] == "<goal>"
    assert abs(sum(weight for _, weight in agent["words"]) - 1) < 0.02
    assert len(agent["heat"]) == 5
    # Its map has a floor, and grows with what it sees.
    known = [sum(map(len, agent["memory"]["cells"]))]
    assert {FLOOR, OBSTACLE} <= set().union(*agent["memory"]["cells"])
    for action in ("RotateLeft", "MoveAhead", "RotateLeft"):
        agent = told(session, "act", action=action)["worlds"][0]["agent"]
        known.append(sum(map(len, agent["memory"]["cells"])))
        x, z, _ = agent["memory"]["agent"]
        assert agent["memory"]["cells"][x][z] != OBSTACLE
    assert known[-1] > known[0]
    session.sleep()


def test_current_instructions_follow_the_interactions(session: Session) -> None:
    trajectory = told(session, "show") and session.worlds[0].episode.trajectory
    following = [one.step for one in trajectory.actions if one.object_id]
    past = len(trajectory.plan)
    now = told(session, "show")["worlds"][0]["now"]
    assert now == [0, following[0]]
    for action, target in list(expert(session)):
        if target is not None:
            assert now[0] <= following.pop(0) == now[1]
        now = told(session, "act", action=action.name, object=target)["worlds"][0]["now"]
    assert now == [past, past]
    # Going back makes them current again.
    assert told(session, "go_to", step=0)["worlds"][0]["now"][0] == 0


def test_the_front_view_is_large(session: Session) -> None:
    picture, instances = unpack(session.handle({"do": "show"}))[1]
    assert Image.open(io.BytesIO(picture)).size == (600, 1200)
    assert len(zlib.decompress(instances)) == 5 * 300 * 300 * 2


def test_taking_over_and_handing_back(library: Library, mapper: WatchedAgent) -> None:
    library.performers = [mapper]
    session = Session(library)
    told(session, "agent")
    told(session, "agent")
    told(session, "act", action="RotateLeft")
    suggestion = session.worlds[0].suggestion()
    assert suggestion is not None
    answer = told(session, "agent")["worlds"][0]
    assert [agent for _, agent, _ in answer["deeds"]] == [True, True, False, True]
    assert session.worlds[0].deeds[3].action is suggestion.action
    # The agent was told what the person did.
    state = session.worlds[0]._state
    assert state is not None
    told(session, "go_to", step=3)
    world = session.worlds[0]
    assert world._state is not None
    assert world._state.previous == (int(Action.RotateLeft), 0)
    session.sleep()


def test_two_agents_side_by_side(
    library: Library, mapper: WatchedAgent, micro: WatchedAgent
) -> None:
    library.performers = [mapper, micro]
    session = Session(library)
    answer, blobs = unpack(session.handle({"do": "agent"}))
    assert [world["title"] for world in answer["worlds"]] == ["mapper", "micro"]
    assert [world["step"] for world in answer["worlds"]] == [1, 1]
    assert len(blobs) == 4
    answer = told(session, "act", action="LookUp", world=1)
    assert [world["step"] for world in answer["worlds"]] == [1, 2]
    session.sleep()


def test_agents_are_chosen_on_the_page(library: Library, micro: WatchedAgent) -> None:
    library.performers = [micro]
    session = Session(library)
    shown = told(session, "show")
    assert shown["watched"] == ["micro"]
    assert {"micro", "joint-masks"} <= set(shown["agents"])
    choice = {"tier": "tiny", "split": "train"}
    shown = told(session, "choose", **choice, agents=["joint-masks", "micro"])
    assert [world["title"].partition(":")[0] for world in shown["worlds"]] == shown["watched"]
    assert told(session, "agent")["worlds"][0]["last"]["by_agent"]
    shown = told(session, "choose", **choice, agents=[])
    assert [world["title"] for world in shown["worlds"]] == [""]
    assert told(session, "agent")["note"] == "No agent here."
    session.sleep()


@pytest.mark.parametrize("task", ["Pick&Place", "Cool", "Examine"])
def test_both_maps_are_turned_alike(task: str, library: Library, mapper: WatchedAgent) -> None:
    library.performers = [mapper]
    session = Session(library)
    told(session, "choose", tier="tiny", split="train", task=task)
    for action in ("RotateRight", "RotateRight", "RotateRight", "MoveAhead", "RotateRight"):
        world = told(session, "act", action=action)["worlds"][0]
        assert world["agent"]["memory"]["agent"][2] == world["map"]["agent"][2] / 90 % 4
    # Under each floor cell next to the agent there is floor in the room, too.
    memory, (x, z, _) = world["agent"]["memory"]["cells"], world["agent"]["memory"]["agent"]
    here = world["map"]["agent"]
    floor = {tuple(point) for point in told(session, "show")["worlds"][0]["floor"]}
    walked = [
        (round(here[0] + 0.25 * (i - x), 2), round(here[1] + 0.25 * (j - z), 2))
        for i, column in enumerate(memory)
        for j, kind in enumerate(column)
        if kind == FLOOR and abs(i - x) + abs(j - z) <= 1
    ]
    assert walked
    assert set(walked) <= floor
    session.sleep()


def test_the_map_marks_what_the_task_is_about(session: Session) -> None:
    boxes = told(session, "show")["worlds"][0]["map"]["boxes"]
    task = session.worlds[0].episode.trajectory.task
    assert task.receptacle is not None
    marked = {box[0] for box in boxes if box[-1]}
    assert marked == {plain_name(task.target), plain_name(task.receptacle)}
    assert len(marked) < len({box[0] for box in boxes})


# Demonstrations.


@pytest.mark.parametrize("task", ["Pick&Place", "Heat", "Examine", "Pick2&Place", "Movable"])
def test_saved_demonstrations_replay_and_stream(task: str, library: Library) -> None:
    library.choice = EpisodeChoice(task=task)
    session = Session(library)
    told(session, "show")
    # A person looks around first, and fails at something.
    for action in ("RotateLeft", "RotateRight", "LookUp", "LookDown"):
        told(session, "act", action=action)
    answer = solve(session)
    assert answer["worlds"][0]["success"]
    note = told(session, "save")["note"]
    assert "saved" in note
    source = open_source(data=library.save)
    entries = source.entries(Split.TRAIN)
    assert len(entries) == 1
    episode = source.episode(entries[0].key)
    assert solves(source, episode.trajectory, Split.TRAIN)
    assert episode.annotation == session.worlds[0].episode.annotation
    assert len(episode.trajectory.actions) == len(session.worlds[0].deeds) - 1
    assert len(demonstration_of(episode, source).actions) == len(session.worlds[0].deeds)
    high = [one.step for one in episode.trajectory.actions]
    assert high == sorted(high)
    assert set(high) == {one.step for one in session.worlds[0].episode.trajectory.actions}
    # The same again gives the same bytes.
    path = next(library.save.rglob("traj_data.json"))
    content = path.read_bytes()
    told(session, "save")
    assert [path] == list(library.save.rglob("traj_data.json"))
    assert path.read_bytes() == content
    session.sleep()


def test_demonstrations_gather_in_one_folder(session: Session, library: Library) -> None:
    for name in ("ann_1", "ann_2"):
        assert solve(session)["worlds"][0]["success"]
        told(session, "save", name=name)
        told(session, "turn", by=1)
    entries = open_source(data=library.save).entries(Split.TRAIN)
    assert sorted(one.key.trajectory.split("/")[1] for one in entries) == [
        "trial_ann_1",
        "trial_ann_2",
    ]
    # ``data=`` is all that a stream needs, with the household and without.
    env = gymnasium.make(ENV_IDS[0], data=library.save, tasks=["Pick&Place"], image_size=16)
    stream, solved = TaskStream(env), 0
    while not stream.exhausted:
        stream.reset()
        for one in stream.demonstration().actions:
            pixels = None if one.mask is None else one.mask.decode()
            step = env.unwrapped.act_with_mask(one.action, pixels)  # type: ignore[attr-defined]
        solved += step[4]["success"]
    env.close()
    assert solved == 2


def test_an_agents_part_is_kept_with_masks(library: Library, micro: WatchedAgent) -> None:
    episode = library.source("tiny").episode(library.keys(PLACE)[0])
    library.performers = [WatchedAgent("follower", Follower.of(micro.policy, episode))]
    session = Session(library)
    told(session, "show")
    for number, one in enumerate(episode.trajectory.actions):
        if number % 2:
            told(session, "act", action=one.action.name, object=one.object_id)
        else:
            told(session, "agent")
    answer = told(session, "agent")["worlds"][0]
    assert answer["success"]
    assert {agent for _, agent, _ in answer["deeds"]} == {True, False}
    told(session, "save")
    source = open_source(data=library.save)
    trajectory = source.episode(source.entries(Split.TRAIN)[0].key).trajectory
    assert all(one.mask for one in trajectory.actions if one.object_id)
    session.sleep()


def test_what_is_not_solved_is_not_saved(session: Session, library: Library) -> None:
    with pytest.raises(BadInputError, match="at least one action"):
        session.handle({"do": "save"})
    told(session, "act", action="RotateLeft")
    with pytest.raises(BadInputError, match="meets every goal condition"):
        session.handle({"do": "save"})
    assert not library.save.exists()


def test_names_cannot_leave_the_folder(session: Session, library: Library) -> None:
    solve(session)
    for name in ("../out", "/etc/x", "a/b", "a\\b", "..", "x" * 61, "é", "a\n"):
        with pytest.raises(BadInputError, match="letters, digits and underscores"):
            session.handle({"do": "save", "name": name})
    assert not library.save.exists()


def test_links_cannot_leave_the_folder(session: Session, library: Library, tmp_path: Path) -> None:
    solve(session)
    (tmp_path / "outside").mkdir()
    library.save.mkdir()
    (library.save / "json_2.1.0").symlink_to(tmp_path / "outside")
    with pytest.raises(BadInputError, match="leads out of"):
        session.handle({"do": "save"})
    assert not list((tmp_path / "outside").iterdir())


def test_other_data_is_not_overwritten(session: Session, library: Library) -> None:
    solve(session)
    library.save.mkdir()
    (library.save / "train.zip").write_bytes(b"mine")
    with pytest.raises(BadInputError, match="holds other data"):
        session.handle({"do": "save"})
    assert (library.save / "train.zip").read_bytes() == b"mine"


def test_rooms_of_an_imported_store_come_along(tmp_path: Path) -> None:
    generated = open_source("tiny")
    keys = Library().keys(EpisodeChoice(task="Examine"))
    trajectories = [generated.episode(key).trajectory for key in keys]
    numbers = sorted({one.scene.number for one in trajectories})
    store = tmp_path / "store"
    write_archive(store, Split.TRAIN, trajectories)
    write_rooms(store, map(generated.room, numbers))
    counts = {"train": len(keys)}
    write_info(store, StoreInfo("imported", counts, counts, tuple(numbers), 0))
    # A store keeps less of a room than the generator knows: putting may fail there.
    imported = open_source(data=store)
    room = next(one.scene.number for one in trajectories if solves(imported, one, Split.TRAIN))
    library = Library(EpisodeChoice(tier="data", room=str(room)), str(store), save=tmp_path / "own")
    session = Session(library)
    told(session, "show")
    assert solve(session)["worlds"][0]["success"]
    told(session, "save")
    source = open_source(data=library.save)
    assert not source.has_generated_rooms
    saved = source.episode(source.entries(Split.TRAIN)[0].key).trajectory
    assert solves(source, saved, Split.TRAIN)
    with pytest.raises(BadInputError, match="holds demonstrations in imported rooms"):
        save_demonstration(
            library.save, generated, session.worlds[0].episode, session.worlds[0].done
        )
    session.sleep()


# A person's score.


def test_a_persons_score(tmp_path: Path) -> None:
    source = open_source("tiny")
    keys = [entry.key for entry in source.entries(Split.TEST_SEEN)][:4:3]
    path = tmp_path / "ann.jsonl"
    with PlayScore(path, "ann", source, keys, 1000) as score:
        session = Session(Library(score=score))
        world = told(session, "show")["worlds"][0]
        assert "conditions" not in world
        assert "map" not in world
        for do in ("restart", "agent", "save", "go_to", "choose"):
            with pytest.raises(Exception, match="not while the score counts"):
                session.handle({"do": do, "step": 0})
        with pytest.raises(Exception, match="finish this episode first"):
            session.handle({"do": "turn"})
        assert solve(session)["score"]["succeeded"] == 1
    results = read_results(path)
    (result,) = results.values()
    assert (result.episode, result.success, result.end) == (str(keys[0]), True, "stop")
    assert result.steps == result.expert_steps
    assert "PickupObject" in result.interactions
    # The same command again goes on with the next one.
    with PlayScore(path, "ann", source, keys, 1000) as score:
        session = Session(Library(score=score))
        told(session, "act", action="Stop")
        assert "Thank you" in told(session, "turn")["note"]
        assert (score.done, score.succeeded) == (2, 1)
    assert [one.success for one in read_results(path).values()] == [True, False]
    with pytest.raises(Exception, match="agent is 'person ann', not 'person bob'"):
        PlayScore(path, "bob", source, keys, 1000)


def test_ends_are_told_as_for_agents() -> None:
    source = open_source("tiny")
    key = source.entries(Split.TRAIN)[0].key
    world = PlayedEpisode(source, max_steps=3)
    world.begin(key)
    for _ in range(3):
        world.act(Action.RotateLeft)
    assert world.result().end == "limit"
    world.sleep()
    world = PlayedEpisode(source)
    world.begin(key)
    while not world.ended:
        world.act(Action.LookUp)
    assert world.result().end == "failures"
    world.sleep()
