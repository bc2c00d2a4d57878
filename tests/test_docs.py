"""The Python examples of the README and the docs run as they are printed, on the tier tiny."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from report_runs import invented_results

from clalfred.cl.experiment import RunConfig

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

#: What is small enough to be tried in a test, in the place of what is printed.
SHORTER = {
    'tier="small"': 'tier="tiny"',
    'data="/data/alfred"': 'tier="tiny"',
    '"CLAlfred-BehaviorIL-v0", order=1,': '"CLAlfred-BehaviorIL-v0", order=1, tier="tiny",',
    'RunConfig(method="er",': 'RunConfig(method="er", network="micro", max_steps=5,',
    "max_steps=100)": "max_steps=5)",
    'tasks=["Heat"]': 'max_steps=5, tasks=["Heat"]',
}


def examples(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/DATA.md",
        "docs/ENVIRONMENT.md",
        "docs/RESULTS_SCHEMA.md",
        "docs/STREAMS.md",
    ],
)
def test_examples_run(page: str, tmp_path: Path) -> None:
    blocks = examples(page)
    assert blocks
    if page == "docs/RESULTS_SCHEMA.md":
        invented_results(RunConfig(), 0.5).save(tmp_path / "runs" / "demo" / "results.json")
    # Later examples of these pages go on from earlier ones.
    together = page in ("README.md", "docs/ENVIRONMENT.md")
    programs = ["\n".join(blocks)] if together else blocks
    for program in programs:
        for printed, shorter in SHORTER.items():
            program = program.replace(printed, shorter)
        path = tmp_path / "example.py"
        path.write_text(program, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, str(path)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
