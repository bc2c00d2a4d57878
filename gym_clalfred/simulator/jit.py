"""How numba compiles the simulator's kernels, and when it has to compile one again.

numba keeps compiled kernels on disk and compiles one again when its own file changes. It does not
look at what else a kernel is made of: kernels and constants of other files, and the fields of named
tuples. ``kernel`` does, for all kernels of this package.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache


class _Cache(FunctionCache):
    """numba's own cache, with keys that change with all that a kernel is made of."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), fingerprint(self._py_func))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Forgets what was compiled with a named tuple that is no longer there."""
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):
            self.flush()
            return None


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with these options, cached on disk, without Python's lock while it runs."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        dispatcher = njit(nogil=True, **options)(function)
        dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_lazily


def fingerprint(function: Callable[..., Any]) -> str:
    """Digest of a kernel's file, of the files of what it calls, and of all constants used."""
    parts = {__name__: _digest(__name__)}
    waiting: list[tuple[str, Any]] = [("", function)]
    while waiting:
        name, value = waiting.pop()
        # What Python wrote of a compiled function, or of one that writes machine code.
        value = getattr(value, "py_func", getattr(value, "_defn", value))
        if isinstance(value, FunctionType | type):
            name = f"{value.__module__}.{value.__qualname__}"
            if name not in parts and isinstance(value, FunctionType):
                known = value.__globals__
                names = {*value.__code__.co_names, *map(str, value.__annotations__.values())}
                waiting += [(f"{value.__module__}.{k}", known[k]) for k in names if k in known]
            parts[name] = _digest(value.__module__)
        elif not isinstance(value, ModuleType):
            parts[name] = value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value)
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


@lru_cache(maxsize=256)
def _digest(module: str) -> str:
    """Digest of a module's source; empty if it has none."""
    path = getattr(sys.modules[module], "__file__", None)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""


#: What the compiler may assume of float32 arithmetic. It may not reorder or fuse it: how it would
#: do so depends on what it compiles together and what it finds in numba's cache, and a pixel on an
#: edge would then belong to one object in one process and to its neighbour in another. Nor may it
#: divide by quick reciprocals, which differ between processors, and pictures with them.
EXACT = {"nnan", "ninf", "nsz"}

#: Decorators of the renderer's kernels; one that is inlined costs nothing to call.
exact = kernel(fastmath=EXACT, error_model="numpy")
inlined = kernel(fastmath=EXACT, error_model="numpy", inline="always")
