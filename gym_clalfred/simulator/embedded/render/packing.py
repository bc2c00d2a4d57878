"""Colours of four bytes to pixels of three, in vector instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: Pixels whose colours are written at once.
QUAD = np.uint64(4)


def _write_colours(
    typing_context: Any, colours: Any, k: Any, rgb: Any, at: Any
) -> tuple[Any, Callable[..., Any]]:
    """What compiled code calls to copy ``QUAD`` colours from ``colours[k]`` to ``rgb[at]`` on.

    It writes four bytes more, which the next ones overwrite. The code is given here, because the
    compiler does not find the one shuffle that this takes.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def place(which: int) -> Any:
            make = context.make_array(signature.args[which])
            data = make(context, builder, arguments[which]).data
            return builder.bitcast(builder.gep(data, [arguments[which + 1]]), vector.as_pointer())

        size = 4 * int(QUAD)
        vector = ir.VectorType(ir.IntType(8), size)
        wanted = [byte for byte in range(size) if byte % 4 < 3]
        order = wanted + [size - 1] * (size - len(wanted))
        places = ir.Constant(ir.VectorType(ir.IntType(32), size), order)
        read = builder.load(place(0), align=4)
        builder.store(builder.shuffle_vector(read, read, places), place(2), align=1)
        return context.get_dummy_value()

    return types.void(colours, k, rgb, at), generate


#: ``write_colours(colours, k, rgb, at)``; see ``_write_colours``.
write_colours: Any = intrinsic(_write_colours)
