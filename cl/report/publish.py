"""The published results: compact copies of runs, and the page that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs, to_builtins

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import (
    BothSplits,
    EvaluatedEpisode,
    Labels,
    Matrices,
    Metrics,
    Results,
    Seconds,
    SplitResults,
    StreamInfo,
    TrainingInfo,
    read_results,
)
from clalfred.cl.metrics import Scores
from clalfred.cl.report.published_tables import (
    LEADER,
    ablations,
    as_they_are,
    by_method,
    controls,
    cost,
    data_curve,
    failures,
    groups,
    heading,
    is_plain,
    memories,
    of_all_methods,
    on_most_orders,
    pooled,
    tables,
)
from clalfred.cl.report.summary import COPY
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.errors import DataError
from gym_clalfred.schema import markdown

#: Points of the learning curves that a published copy keeps.
CURVE_POINTS = 120

#: Settings that are paths.
PATHS = ("data", "split_folder", "encoder_weights")

#: What stands where there are no runs to fill in.
NOTHING = "Not run yet."

_DIGITS = 5


def collect(runs: Iterable[Results], folder: Path) -> list[Path]:
    """Writes a compact copy of every run into a folder of published results.

    Raises:
        DataError: if two runs, or a run and a copy that is there, have one name and other settings.
    """
    made: list[Path] = []
    for run in runs:
        path, copy = folder / f"{run.config.name}{COPY}", compacted(run)
        if path.exists() and read_results(path).config != copy.config:
            raise DataError(
                f"{path}: is of other settings than {run.folder or run.config.name}; publish runs "
                "of one tier, agent and limits in one folder"
            )
        copy.save(path)
        made.append(path)
    return made


def compacted(run: Results) -> Results:
    """The results with the episodes of the last evaluation only, and thinner curves.

    Of paths only the last part stays: the rest is of a machine, and labels say what is in there.
    """
    parts = (
        structs.replace(run.split(split), episodes=tuple(run.last_episodes(split)))
        for split in SPLITS
    )
    stride = max(1, -(-len(run.curves) // CURVE_POINTS))
    times = to_builtins(run.seconds)
    return structs.replace(
        run,
        settings=_without_folders(run.settings),
        splits=BothSplits(*parts),
        curves=tuple(
            {name: round(value, _DIGITS) for name, value in row.items()}
            for row in run.curves[::stride]
        ),
        seconds=Seconds(**{name: round(value) for name, value in times.items()}),
    )


def is_published(run: RunConfig, label: str, folder: Path) -> bool:
    """Whether a folder of published results has this run, on data of this label in any folder."""
    path = folder / f"{run.name}{COPY}"
    if not path.exists():
        return False
    found = read_results(path)
    wanted = {**_without_folders(run.to_dict()), "data": found.config.data}
    return found.config == RunConfig.from_dict(wanted) and found.labels.data == label


def _without_folders(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of paths only the last part: the rest is of a machine."""
    paths = {name: Path(path).name for name in PATHS if (path := settings.get(name))}
    return {**settings, **paths}


def read_published(folder: Path) -> list[Results]:
    """The runs that ``collect`` wrote into a folder."""
    runs = [read_results(path) for path in sorted(folder.glob(f"*{COPY}"))]
    if not runs:
        raise DataError(f"{folder}: no published results; collect some first")
    return runs


def write_page(folder: Path, page: Path, source: EpisodeSource) -> list[Path]:
    """Writes the page and its figures from a folder of published results.

    ``reading.md`` in that folder is what people wrote about them; its marks ``{{overview}}``,
    ``{{tables}}``, ``{{pooled}}``, ``{{memories}}``, ``{{ablations}}``, ``{{controls}}``,
    ``{{cost}}``, ``{{data}}``, ``{{full}}`` (of runs in its folder ``full``), ``{{failures}}``,
    ``{{curves}}``, ``{{confidence}}`` and ``{{objects}}`` are filled in.

    Args:
        folder: with the files that ``collect`` wrote.
        page: the file to write.
        source: the episodes that the runs were evaluated on.
    """
    # matplotlib is only needed here.
    from clalfred.cl.report import figures

    published = read_published(folder)
    runs = [run for run in published if run.config.episodes_per_task is None]
    shown = folder / "figures"
    made: list[Path] = []

    def link(path: Path) -> str:
        made.append(path)
        return f"![{path.stem}]({path.relative_to(page.parent).as_posix()})"

    setups: dict[str, dict[str, list[Results]]] = {}
    curves: dict[tuple[str, str], str] = {}
    # Of several memories and agents, the one that most runs have.
    for group in sorted(groups(as_they_are(runs)), key=len, reverse=True):
        methods, config = by_method(of_all_methods(group)), group[0].config
        kind = config.setup, config.schedule
        if len(methods) > 1 and kind not in curves:
            drawn = on_most_orders(by_method(group))
            made_here = figures.success_curves(drawn, shown / f"success-{'-'.join(kind)}.png")
            curves[kind] = f"{heading(group)}:\n\n{link(made_here)}"
            if config.schedule == "disjoint":
                setups[heading(group)] = methods
    leaders = [run for run in runs if is_plain(run) and run.config.method == LEADER]
    fillings = {
        "overview": link(figures.overview(setups, shown / "overview.png")) if setups else "",
        "tables": tables(runs),
        "pooled": pooled(runs),
        "ablations": ablations(runs),
        "memories": memories(runs),
        "controls": controls(folder, runs),
        "cost": cost(published),
        "data": data_curve(published),
        "full": tables(read_published(folder / "full")) if (folder / "full").is_dir() else "",
        "curves": "\n\n".join(curves[kind] for kind in sorted(curves)),
        "failures": failures(leaders[0], source) if leaders else "",
    }
    text = (folder / "reading.md").read_text()
    if "{{objects}}" in text:
        fillings["objects"] = link(figures.objects_by_behaviour(source, shown / "objects.png"))
    if "{{confidence}}" in text and leaders:
        fillings["confidence"] = link(figures.confidence(leaders[0], shown / "confidence.png"))
    for mark, filling in fillings.items():
        text = text.replace(f"{{{{{mark}}}}}", filling or NOTHING)
    with atomic_file(page) as file:
        file.write(text.encode())
    return [page, *made]


def schema_tables() -> dict[str, str]:
    """Markdown: the fields of ``results.json``, by the name of the part."""
    models = {
        "results": Results,
        "labels": Labels,
        "stream": StreamInfo,
        "training": TrainingInfo,
        "seconds": Seconds,
        "splits": SplitResults,
        "metrics": Metrics,
        "matrix": Matrices,
        "after_each_task": Scores,
        "episodes": EvaluatedEpisode,
    }
    return {name: markdown(model, "folder") for name, model in models.items()}


def fill_in(page: Path, name: str, filling: str) -> None:
    """Replaces what stands between ``<!-- name -->`` and ``<!-- /name -->`` in a page."""
    text = page.read_text()
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise DataError(f"{page}: expected the marks {begin} and {end} once each")
    before, rest = text.split(begin)
    with atomic_file(page) as file:
        file.write(f"{before}{begin}\n{filling}\n{end}{rest.split(end)[1]}".encode())
