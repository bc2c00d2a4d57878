"""The board: submissions are replayed, and what was changed or does not hold is refused."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result

from clalfred.agents.acting.recording import expert_trace
from clalfred.agents.acting.result_file import read_actions
from clalfred.cl.board.page import board_html
from clalfred.cl.board.submission import encode, read_submission, seal, write_submission
from clalfred.cl.board.verification import Verified, verify
from clalfred.cl.experiment import RunConfig, train
from clalfred.cl.experiment.results import read_results as read_run
from clalfred.scripts.evaluate import main as evaluate_command
from clalfred.scripts.submit import main as submit_command
from clalfred.scripts.verify import main as verify_command
from gym_clalfred.actions import Action
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.errors import BadInputError, DataError
from tests.helpers.runs import MICRO, untrained_agent

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven episodes of an agent that has learned nothing."""
    folder = tmp_path_factory.mktemp("board")
    untrained_agent(folder)
    arguments = [str(folder), "--submission", str(folder / "it.jsonl"), "--name", "Nobody"]
    run = CliRunner().invoke(evaluate_command, [*arguments, "--max-steps", "12"])
    assert run.exit_code == 0, run.output
    return folder / "it.jsonl"


@pytest.fixture(scope="module")
def solved(submitted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, but one episode is the expert's; its claims are what the replay gives."""
    head, first = lines_of(submitted)[:2]
    key = EpisodeKey.parse(first["episode"])
    source = open_source("tiny")
    trace = expert_trace(source, key)
    written = [
        f"{one.action.name}:{one.object_class.name}"
        if one.action.is_interaction
        else one.action.name
        for one in trace
    ]
    interactions = [text.replace(":", " ") for text in written if ":" in text]
    met = {"success": True, "conditions_met": first["conditions"], "end": "stop"}
    counts = {"steps": len(trace) - 1, "expert_steps": len(trace) - 1}
    texts = {"interactions": ", ".join(interactions), "actions": " ".join(written)}
    task = next(str(e.task_type.paper_name) for e in source.entries(key.split) if e.key == key)
    scores = {"SR": 1.0, "GC": 1.0, "PLW_SR": 1.0, "PLW_GC": 1.0, "episodes": 1}
    head |= {"scores": {"all": scores, task: scores}, "episodes": 1, "max_steps": 100}
    path = tmp_path_factory.mktemp("solved") / "expert.jsonl"
    path.write_bytes(seal([{**head, "name": "Expert"}, {**first, **met, **counts, **texts}]))
    return path


def lines_of(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()[:-1]]


def run_verify(*arguments: object) -> Result:
    return CliRunner().invoke(verify_command, [str(one) for one in arguments])


def refusal(path: Path) -> str:
    """Why a file is refused; fails if it is not."""
    with pytest.raises(DataError) as error:
        verify(read_submission(path))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_was_submitted_is_verified(submitted: Path) -> None:
    run = run_verify(submitted)
    assert run.exit_code == 0, run.output
    assert "Nobody, valid_unseen of tiny-" in run.output
    assert "7 of 7 episodes" in run.output


def test_the_same_evaluation_gives_the_same_bytes(submitted: Path, tmp_path: Path) -> None:
    assert encode(read_submission(submitted)) == submitted.read_bytes()
    again = tmp_path / "again.jsonl"
    arguments = [str(submitted.parent), "--submission", str(again), "--name", "Nobody"]
    assert CliRunner().invoke(evaluate_command, [*arguments, "--max-steps", "12"]).exit_code == 0
    assert again.read_bytes() == submitted.read_bytes()


def test_a_part_of_the_episodes_is_verified_as_a_part(solved: Path) -> None:
    found = verify(read_submission(solved))
    assert (found.available, found.missing, found.scores.sr) == (7, 6, 1.0)


def test_a_thousand_damaged_files_neither_crash_nor_pass(submitted: Path, tmp_path: Path) -> None:
    content, draw = submitted.read_bytes(), random.Random(0)
    path = tmp_path / "damaged.jsonl"
    for _ in range(1000):
        path.write_bytes(damaged(content, draw))
        with pytest.raises(DataError, match=r"damaged\.jsonl"):
            read_submission(path)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """One byte changed, some lost, some doubled, some added, or all of it something else."""
    start = draw.randrange(len(content))
    stop = min(len(content), start + 1 + int(draw.expovariate(0.02)))
    noise = draw.randbytes(stop - start)
    changed = bytes([content[start] ^ (1 << draw.randrange(8))])
    forms = (
        content[:start] + changed + content[start + 1 :],
        content[:start] + content[stop:],
        content[:stop] + content[start:],
        content[:start] + noise + content[start:],
        content[:start],
        noise,
    )
    return next(form for form in draw.sample(forms, len(forms)) if form != content)


@pytest.mark.parametrize("position", ["first", "middle", "digest", "last"])
def test_a_changed_byte_is_refused_with_the_reason(
    position: str, submitted: Path, tmp_path: Path
) -> None:
    content = bytearray(submitted.read_bytes())
    places = {"first": 0, "middle": len(content) // 2, "digest": -20, "last": -1}
    content[places[position]] ^= 1
    path = tmp_path / "changed.jsonl"
    path.write_bytes(content)
    run = run_verify(path)
    assert run.exit_code == 1
    assert "refused" in run.output
    assert "was changed or cut off after it was written" in run.output


def of_head(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[0].update(changes)


def of_scores(name: str, **changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[0]["scores"][name].update(changes)


def of_first(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[1].update(changes)


#: Claims that somebody might make and seal again, and why they are refused.
FORGERIES: dict[str, tuple[Callable[[Lines], None], str]] = {
    "a better rate": (of_scores("all", SR=1.0), "scores of all: claims sr 1.0"),
    "a better path": (of_scores("all", PLW_GC=0.99), "scores of all: claims plw_gc"),
    "more episodes": (of_scores("all", episodes=9), "scores of all: claims episodes 9"),
    "a success": (of_first(success=True), "claims success True, but the replay gives False"),
    "a condition": (of_first(conditions_met=3), "claims conditions_met 3, but the replay"),
    "more conditions": (of_first(conditions=9), "claims conditions 9, but the replay"),
    "other steps": (of_first(steps=99), "claims steps 99, but the replay gives"),
    "a longer expert": (of_first(expert_steps=999), "claims expert_steps 999"),
    "another end": (of_first(end="failures"), "claims end 'failures', but the replay"),
    "another deed": (of_first(interactions="PickupObject Mug"), "claims interactions"),
    "no action": (of_first(actions=""), "actions: expected all actions, found ''"),
    "too few": (of_first(actions="MoveAhead"), "has not ended after the log's 1 actions"),
    "too many": (of_first(actions="Stop MoveAhead"), "ended after 1 actions (stop), but the log"),
    "unknown action": (of_first(actions="Fly"), "action 'Fly': expected one such as MoveAhead"),
    "a wrong target": (of_first(actions="PickupObject:X Stop"), "action 'PickupObject:X'"),
    "a needless target": (of_first(actions="Stop:Mug"), "action 'Stop:Mug'"),
    "two spaces": (of_first(actions="MoveAhead  Stop"), "action '': expected"),
    "an error": (of_first(error="crash"), "error: expected a finished episode"),
    "another limit": (of_head(max_steps=100), "has not ended after the log's 12 actions"),
    "other data": (of_head(data="tiny-00000000"), "the episodes here are tiny-"),
    "another tier": (of_head(tier="huge"), "tier 'huge': expected one of tiny"),
    "no tier": (of_head(tier=None), "is no generated tier; give its folder"),
    "another simulator": (of_head(backend="thor-5.0.0"), "backend 'thor-5.0.0': only episodes"),
    "another split": (of_head(split="valid_seen"), "is not an episode of valid_seen"),
    "no split": (of_head(split="test"), "split: expected train or valid_seen or valid_unseen"),
    "another format": (
        of_head(**{"clalfred-submission": 2}),
        "clalfred-submission: expected 1, found 2",
    ),
    "no name": (of_head(name=" "), "name ' ': expected 1 to 80 printable characters"),
    "a count": (of_head(episodes=8), "episodes: expected 7, as there are lines"),
    "settings": (of_head(run={"method": 5}), "expected settings of a run, but"),
    "no settings": (of_head(run=[]), "run: expected an object, found []"),
    "no acting": (of_head(acting={}), "acting.agent: expected a text, found nothing"),
    "score not a number": (
        of_scores("all", SR=float(2)),
        "scores.all.SR: expected a number from 0 to 1, found",
    ),
    "score a text": (
        of_scores("all", SR="1"),
        "scores.all.SR: expected a number from 0 to 1, found",
    ),
    "scores of fewer tasks": (of_head(scores={}), "scores: expected those of"),
    "an episode twice": (
        lambda lines: lines.__setitem__(2, lines[1]),
        "is there 2 times; every episode counts once",
    ),
    "an unknown episode": (of_first(episode="valid_unseen/a/b#0"), "has no episode valid_unseen"),
    "no episode": (of_first(episode="nonsense"), "expected an episode '<split>/<folder>"),
    "an episode written otherwise": (
        lambda lines: lines[1].update(episode=lines[1]["episode"].replace("#", "#0")),
        "claims episode",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_sealed_again_it_is_refused_by_its_claims(
    name: str, submitted: Path, tmp_path: Path
) -> None:
    change, reason = FORGERIES[name]
    lines = lines_of(submitted)
    change(lines)
    path = tmp_path / "forged.jsonl"
    path.write_bytes(seal(lines))
    assert reason in refusal(path)


def test_random_changes_that_are_sealed_again_never_crash(submitted: Path, tmp_path: Path) -> None:
    """Any field becomes anything; what is still accepted must be what was there before."""
    draw, path = random.Random(0), tmp_path / "odd.jsonl"
    before = encode(read_submission(submitted))
    values = (None, True, -1, 0, 1e9, "", "x", [], {}, "\ud800", 10**30, "Stop", "🙂")
    for _ in range(150):
        lines = lines_of(submitted)
        part: Any = draw.choice([lines[0], lines[0]["scores"]["all"], lines[0]["run"], lines[1]])
        name = draw.choice(sorted(part))
        if draw.random() < 0.2:
            del part[name]
        else:
            part[name] = draw.choice(values)
        path.write_bytes(seal(lines))
        try:
            read = read_submission(path)
            verify(read)
        except DataError:
            continue
        # Only what no replay can know: what it is called, what acted, and how that was trained.
        unknowable = part is lines[0]["run"] or name in ("name", "versions")
        assert encode(read) == before or unknowable, name


def test_logs_are_read_as_they_are_written() -> None:
    assert read_actions("") == ()
    assert [one for one, _ in read_actions("MoveAhead Stop")] == [Action.MoveAhead, Action.Stop]
    with pytest.raises(BadInputError, match="expected one such as"):
        read_actions("MoveAhead Jump")


def test_the_page_lists_what_is_verified(submitted: Path, solved: Path, tmp_path: Path) -> None:
    bad, page = tmp_path / "bad.jsonl", tmp_path / "board.html"
    bad.write_bytes(submitted.read_bytes()[:-5])
    run = run_verify(submitted, solved, bad, "--page", page)
    assert run.exit_code == 1
    assert run.output.count("refused: ") == 1
    text = page.read_text()
    rows = [row for row in text.split("<tr>") if "<td>" in row]
    assert ["Nobody" in rows[0], "Expert" in rows[1]] == [True, True]
    assert "<td>1 of 7</td>" in rows[1]
    assert "incomplete" in rows[1]
    assert "limit 12" in rows[0]
    assert "2 submissions" in text
    assert "<script" not in text


def test_the_page_links_to_the_files(submitted: Path, tmp_path: Path) -> None:
    page = tmp_path / "site" / "board.html"
    assert run_verify(submitted, "--page", page).exit_code == 0
    (link,) = re.findall('<a href="([^"]+)">', page.read_text())
    assert (page.parent / unquote(link)).resolve() == submitted.resolve()


def test_compressed_submissions_are_read_and_damage_is_found(
    submitted: Path, tmp_path: Path
) -> None:
    submission = read_submission(submitted)
    path = write_submission(tmp_path / "it.jsonl.gz", submission)
    content, draw = path.read_bytes(), random.Random(0)
    assert read_submission(path) == submission
    assert len(content) < 0.3 * submitted.stat().st_size
    assert write_submission(path, submission).read_bytes() == content
    for _ in range(1000):
        path.write_bytes(damaged(content, draw))
        try:  # a gzip header has bits that mean nothing
            assert read_submission(path) == submission
        except DataError as error:
            assert "it.jsonl.gz" in str(error)  # noqa: PT017


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of Environment-IL that was evaluated on all its episodes."""
    config = RunConfig(
        method="finetuning", setup="environment-il", tier="tiny", agent="two-branch",
        episodes_per_task=1, batch_size=4, max_steps=3, overrides=MICRO,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("sweep") / "mine"
    train(config, folder, media=False)
    return folder


def test_a_finished_run_is_submitted_by_one_command(finished: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke(submit_command, [str(finished.parent), "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    files = [tmp_path / f"mine-{split}.jsonl.gz" for split in ("valid_seen", "valid_unseen")]
    assert run.output.splitlines() == [str(file) for file in files]
    results = read_run(finished / "results.json")
    for file, split in zip(files, ("seen", "unseen")):
        found = verify(read_submission(file))
        assert found.missing == 0, "what Environment-IL evaluates on is complete"
        assert found.submission.name == "finetuning, order 1"
        assert found.scores.sr == pytest.approx(results.metric(split, "SR_last"))
        assert found.scores.gc == pytest.approx(results.metric(split, "GC_last"))


def test_runs_that_cannot_be_submitted(finished: Path, tmp_path: Path) -> None:
    def said(*arguments: object) -> str:
        run = CliRunner().invoke(submit_command, [str(one) for one in arguments])
        assert run.exit_code == 1
        assert run.output.count("\n") == 1
        return run.output

    assert "expected a finished run in it or below it, found none" in said(tmp_path)
    copy = tmp_path / "mine"
    shutil.copytree(finished, copy)
    assert "expected folders with different names" in said(finished, copy)
    untrained_agent(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "agent.zip", copy / "agent.zip")
    assert "agent" in said(copy)  # the records are of another agent
    shutil.copy(finished / "agent.zip", copy / "agent.zip")
    shutil.rmtree(copy / "evaluations")
    assert "expected records of its evaluations, found none" in said(copy)


def test_the_boards_own_entries_are_on_its_page() -> None:
    folder = Path(__file__).parents[2] / "docs" / "board"
    page = (folder / "index.html").read_text("utf-8")
    files = sorted(folder.glob("*.jsonl.gz"))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_000_000
    assert page.count("</a>") == len(files)
    for file in files:
        assert f'">{read_submission(file).sha256[:12]}</a>' in page, file.name


def test_names_cannot_change_the_page(submitted: Path) -> None:
    lines = lines_of(submitted)
    lines[0]["name"] = "<script>alert(1)</script>"
    path = submitted.with_name("sly.jsonl")
    path.write_bytes(seal(lines))
    page = board_html([Verified(read_submission(path), 7, 0)])
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_results_without_actions_cannot_be_submitted(submitted: Path, tmp_path: Path) -> None:
    lines, target = tmp_path / "lines.jsonl", tmp_path / "it.jsonl"
    arguments = [str(submitted.parent), "--limit", "1", "--lines", str(lines)]
    assert CliRunner().invoke(evaluate_command, arguments).exit_code == 0
    head, result = lines.read_text().splitlines()
    old = {name: value for name, value in json.loads(result).items() if name != "actions"}
    lines.write_text(f"{head}\n{json.dumps(old)}\n")
    run = CliRunner().invoke(evaluate_command, [*arguments, "--submission", str(target)])
    assert run.exit_code == 1
    assert "its actions were not kept" in run.output
    assert not target.exists()


def test_a_name_that_no_table_can_show_is_refused_at_once(submitted: Path) -> None:
    run = CliRunner().invoke(evaluate_command, [str(submitted.parent), "--name", "a\nb"])
    assert run.exit_code == 1
    assert "expected 1 to 80 printable characters" in run.output
