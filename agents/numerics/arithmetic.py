"""Arithmetic that rounds alike on all processors, so that a run on one can be repeated on another.

torch picks its routines by the processor, and with them the order in which sums are rounded. After
a few updates a last bit is another agent. The variables below make the choice the same wherever
there is AVX2: MKL multiplies in the one way that it promises on processors of every make, torch's
own loops and oneDNN use AVX2. torch reads them when it first computes. An update of the paper's
network takes half as long again then; the small one's products have kernels of their own.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from functools import cache

import llvmlite.binding
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

VARIABLES = {
    "MKL_CBWR": "COMPATIBLE",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}

#: Portable arithmetic of a release of torch, by ``fingerprint``.
PORTABLE, TORCH = "da1eb8a6", "2.13.0"


def make_portable() -> bool:
    """Has torch round alike on all processors, in this process and those that it starts.

    Whoever has set one of the variables to something else is left alone. False, with a warning,
    where torch has computed before and cannot change any more; false on processors without AVX2.
    """
    if not llvmlite.binding.get_host_cpu_features().get("avx2"):
        return False
    if any(os.environ.get(name, value) != value for name, value in VARIABLES.items()):
        return False
    missing = {name: value for name, value in VARIABLES.items() if name not in os.environ}
    os.environ.update(missing)
    known = torch.__version__.split("+")[0] == TORCH
    if torch.backends.cpu.get_cpu_capability() == "AVX2" and (not known or is_portable()):
        return True
    for name in missing:
        del os.environ[name]
    warnings.warn(
        "torch has computed before in this process, in this processor's own way: results will "
        "differ from those of other kinds of processors as those of another seed do. Call "
        "make_portable() of clalfred.agents.numerics.arithmetic before anything is computed",
        stacklevel=2,
    )
    return False


def is_portable() -> bool:
    """Whether this process rounds as processes on other processors do."""
    return fingerprint() == PORTABLE


@cache
def fingerprint() -> str:
    """Names how torch rounds on this processor.

    Where it is equal, runs of one release of this project are, bit for bit, on the CPU.
    """
    generator = np.random.Generator(np.random.PCG64(0))

    def draw(*shape: int) -> Tensor:
        return torch.from_numpy(generator.random(shape, dtype=np.float32) * 4 - 2)

    wide, images, kernels = draw(40, 1001), draw(2, 16, 21, 21), draw(40, 16, 3, 3)
    left, right = draw(2, 40, 177), draw(2, 177, 250)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        made = [
            left @ right,
            left.transpose(1, 2) @ left,
            left[:, :1] @ right,
            wide @ wide[0],
            torch.tanh(wide),
            torch.sigmoid(wide),
            torch.exp(wide),
            wide.softmax(1),
            wide.log_softmax(1),
            wide.norm(dim=1),
            wide.sum(0),
            wide.sum(1),
            exact_sqrt(wide.abs()),
            F.conv2d(images, kernels, padding=1),
        ]
    finally:
        torch.set_num_threads(threads)
    digest = hashlib.sha256()
    for one in made:
        digest.update(one.contiguous().numpy().tobytes())
    return digest.hexdigest()[:8]


def exact_sqrt(values: Tensor) -> Tensor:
    """The root as IEEE rounds it, on a CPU; torch's own goes by way of quick approximations."""
    if values.device.type != "cpu":
        return values.sqrt()
    roots = torch.empty_like(values)
    np.sqrt(values.numpy(), out=roots.numpy())
    return roots
