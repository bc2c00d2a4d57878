from __future__ import annotations

import subprocess
import sys

import pytest

from clalfred.agents.numerics.allocation import keep_freed_memory

PROGRAM = """
import resource
import numpy as np
from clalfred.agents.numerics.allocation import keep_freed_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

kept = {call}
for _ in range(2):
    before = faults()
    np.ones(100_000_000, np.uint8)
    after = faults()
print(int(bool(kept)), after - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
@pytest.mark.parametrize("call", ["keep_freed_memory()", "None"])
def test_freed_memory_is_used_again_without_asking_the_system(call: str) -> None:
    # In a process of its own, because it cannot be undone.
    program = PROGRAM.format(call=call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    kept, faults = map(int, done.stdout.split())
    assert (faults < 20) if kept else (faults > 20)


def test_where_there_is_no_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert not keep_freed_memory()
