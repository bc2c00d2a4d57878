"""A task type of another file: known by name, sampled, solved, worded, stored, streamed, judged."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from clalfred.agents.acting.result_file import EpisodeResult
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Labels
from clalfred.cl.failures import FailureKind, failure_of
from clalfred.cl.report.ground import common_ground
from clalfred.cl.report.text import task_title
from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.generate import TrajectoryGenerator, sample_task
from gym_clalfred.data.index import TrajectoryName
from gym_clalfred.data.quotas import Quota, Scope, quotas_of
from gym_clalfred.data.requests import Request
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import BadInputError, DataError, UnknownTaskError
from gym_clalfred.language.grammar import annotate
from gym_clalfred.language.tokenizer import Tokenizer, split_words
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.selection import Selection
from gym_clalfred.setups import Setup
from gym_clalfred.simulator.contract import ObjectState
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.stream.orders import resolve_order
from gym_clalfred.tasks import ALFRED_TASKS, spec
from gym_clalfred.tasks.goals import count_conditions, goal_status
from gym_clalfred.tasks.pick_and_place import PickAndPlace
from gym_clalfred.tasks.spec import TaskSpec, TaskType, find_task, register_task, task_types
from tests import ROOT

EXAMPLE = ROOT / "examples" / "07_own_task.py"


class _Wrong(PickAndPlace):
    value = "pick_wrong"
    paper_name = "Wrong"


@pytest.fixture(scope="module")
def pair() -> Iterator[TaskType]:
    """The example's task type, known until this module's tests are done."""
    known = dict(spec._KNOWN)
    found = importlib.util.spec_from_file_location("their_task", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["their_task"] = module
    found.loader.exec_module(module)
    yield module.PICK_PAIR
    del sys.modules["their_task"]
    spec._KNOWN.clear()
    spec._KNOWN.update(known)


@pytest.fixture(scope="module")
def trajectory(pair: TaskType) -> Trajectory:
    scope = Scope(sliced=0.0, hidden=0.0, nearest=True)
    generator = TrajectoryGenerator()
    made = generator.make(Request(0, Split.TRAIN, 0, pair, RoomType.BEDROOM, 3, scope))
    generator.close()
    return made


def of(pair: TaskType) -> TaskSpec:
    return TaskSpec(pair, ObjectClass.Pen, ObjectClass.Desk, others=(ObjectClass.Book,))


def test_it_is_known_by_all_its_names_and_the_benchmark_stays(pair: TaskType) -> None:
    assert task_types() == (*ALFRED_TASKS, pair)
    assert find_task("pick_pair_and_place") is pair
    for name in ("PickPair", "pick pair", "PICK_PAIR", "pick_pair_and_place"):
        assert Selection.parse(tasks=name).tasks == {pair}
        assert resolve_order(Setup.BEHAVIOR_IL, ["Heat", name]) == (TaskType.HEAT, pair)
    assert Setup.BEHAVIOR_IL.tasks == ALFRED_TASKS
    assert task_title(pair.value) == "PickPair"


def test_the_expert_solves_it_and_it_is_worded_with_known_words(trajectory: Trajectory) -> None:
    task = trajectory.task
    assert [step.action for step in trajectory.plan].count("PutObject") == 2
    assert {step.args for step in trajectory.plan if step.action == "PickupObject"} == {
        (kind.name.lower(),) for kind in (task.target, *task.others)
    }
    tokenizer = Tokenizer.default()
    for annotation in trajectory.annotations:
        assert " and " in annotation.goal or "then" in annotation.goal
        assert all(word in tokenizer for word in split_words(annotation.goal))


def test_it_is_stored_and_read_again(trajectory: Trajectory) -> None:
    content = encode_trajectory(trajectory)
    assert parse_trajectory(content, "t").task == trajectory.task
    name = TrajectoryName.parse(trajectory.key)
    assert name is not None
    assert name.task_type is trajectory.task.type
    document = json.loads(content)
    document["pddl_params"]["other_targets"] = ["Nothing"]
    with pytest.raises(DataError, match=r"other_targets.*expected an object class"):
        parse_trajectory(document, "t")


def test_conditions(pair: TaskType) -> None:
    def thing(kind: ObjectClass, parent: str = "") -> ObjectState:
        parents = (parent,) if parent else ()
        return ObjectState(kind.name, kind, (0, 0, 0), (0, 0, 0), (1, 1, 1), parents=parents)

    def met(pen: str, book: str) -> list[bool]:
        states = [
            thing(ObjectClass.Pen, pen),
            thing(ObjectClass.Book, book),
            ObjectState("one", ObjectClass.Desk, (0, 0, 0), (0, 0, 0), (1, 1, 1)),
            ObjectState("two", ObjectClass.Desk, (0, 0, 0), (0, 0, 0), (1, 1, 1)),
        ]
        status = goal_status(of(pair), {state.id: state for state in states})
        return [condition.met for condition in status.conditions]

    assert count_conditions(of(pair)) == 3
    assert met("", "") == [False, False, False]
    assert met("one", "") == [True, False, False]
    assert met("one", "two") == [True, True, False]
    assert met("two", "two") == [True, True, True]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ("PickupObject Pen, PutObject Desk", FailureKind.NOT_FOUND),
        ("PickupObject Pen, PutObject Desk, PickupObject Mug", FailureKind.WRONG_OBJECT),
        ("PickupObject Pen, PutObject Desk, PickupObject Book", FailureKind.NOT_PLACED),
        ("PickupObject Pen, PutObject Bed", FailureKind.WRONG_PLACE),
    ],
)
def test_failures_are_named(pair: TaskType, done: str, expected: FailureKind) -> None:
    result = EpisodeResult(
        episode="e",
        success=False,
        conditions_met=0,
        conditions=3,
        steps=9,
        expert_steps=9,
        interactions=done,
        end="stop",
    )
    assert failure_of(of(pair), result) is expected


def test_counts_become_quotas(pair: TaskType) -> None:
    quotas = quotas_of([pair], "tiny", annotations=2)
    assert quotas[Split.TRAIN] == (
        Quota(pair, RoomType.KITCHEN, 2, 4),
        Quota(pair, RoomType.BEDROOM, 2, 4),
    )
    with pytest.raises(BadInputError, match=r"PickPair.*none for 'full': add them"):
        quotas_of([pair], "full")


@pytest.mark.parametrize("row", ["1 0 0", "1 0 0 x", "1/ 0 0 0", "-1 0 0 0"])
def test_a_wrong_count_is_refused(row: str) -> None:
    class Miscounted(_Wrong):
        counts: ClassVar[Mapping[str, Mapping[str, str]]] = {"tiny": {"train": row}}

    with pytest.raises(BadInputError, match=r"<task Wrong>: expected one row of 4 counts of train"):
        quotas_of([Miscounted()], "tiny")


def test_a_goal_sentence_with_an_unknown_slot_is_refused() -> None:
    class Misspelt(_Wrong):
        goals: ClassVar[tuple[str, ...]] = ("{putt} {a} {in}",)

    task = TaskSpec(Misspelt(), ObjectClass.Pen, ObjectClass.Desk)
    with pytest.raises(BadInputError, match=r"'{putt} {a} {in}' has slots without words"):
        annotate(task, (), np.random.default_rng(0))


def test_a_run_streams_the_tasks_that_it_names(pair: TaskType) -> None:
    config = RunConfig(tasks="pick-and-place,PickPair", agent="two-branch")
    assert config.stream_order() == (TaskType.PICK_AND_PLACE, pair)
    assert "PickPair" in config.name
    assert "tasks pick-and-place,PickPair" in common_ground(config, Labels("d", "b", "s"))
    for wrong in ("PickPear", "Heat,Heat", "Heat,", ""):
        with pytest.raises(UnknownTaskError, match=r"Movable, PickPair, each once, with commas"):
            RunConfig(tasks=wrong)


def test_results_of_an_unknown_task_type_can_be_read() -> None:
    values = {**RunConfig().to_dict(), "tasks": "Heat,PickPear"}
    assert RunConfig.recorded(values).tasks == "Heat,PickPear"


def test_it_is_the_same_object_after_pickling(pair: TaskType) -> None:
    assert pickle.loads(pickle.dumps(of(pair))).type is pair
    assert pickle.loads(pickle.dumps(TaskType.HEAT)) is TaskType.HEAT


def test_a_process_that_cannot_know_it_says_so(pair: TaskType) -> None:
    restore = pair.__reduce__()[0]
    assert restore("their_task", pair.value) is pair
    with pytest.raises(BadInputError, match="json does not register it when it is imported"):
        restore("json", "pick_nothing")


def test_names_must_be_new_and_complete(pair: TaskType) -> None:
    class Taken(_Wrong):
        paper_name = "pick-pair"

    class Digits(_Wrong):
        value = "pick2"

    class Silent(_Wrong):
        goals: ClassVar[tuple[str, ...]] = ()

    assert register_task(type(pair)()) is pair
    wrong: list[tuple[Any, str]] = [
        (Taken(), "its names are those of <task PickPair>"),
        (Digits(), "'pick2': expected a name such as"),
        (Silent(), "has no goals"),
        (Taken, "expected an object"),
    ]
    for given, text in wrong:
        with pytest.raises(BadInputError, match=text):
            register_task(given)
    assert task_types() == (*ALFRED_TASKS, pair)


def test_commands_know_an_installed_one(tmp_path: Path, pair: TaskType) -> None:
    (tmp_path / "their_task.py").write_text(EXAMPLE.read_text())
    info = tmp_path / "their_task-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-task\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[clalfred.tasks]\npair = their_task:PICK_PAIR\n")
    code = (
        "import pickle, sys; from gym_clalfred.tasks.spec import task_types; "
        "one = pickle.load(sys.stdin.buffer); assert task_types()[-1] is one; print(one.paper_name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        input=pickle.dumps(pair),
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode().strip() == "PickPair", done.stderr.decode()[-2000:]


def test_the_tasks_of_a_room_are_possible_in_it(pair: TaskType) -> None:
    for seed in range(20):
        task = sample_task(make_room(301), pair, np.random.default_rng(seed))
        assert task is not None
        assert task.receptacle is not None
        assert {task.target, *task.others} <= ACCEPTS[task.receptacle]
        assert task.target not in task.others
        demanded = {demand.object_class for demand in pair.demands(task)}
        assert demanded == {task.target, *task.others}
