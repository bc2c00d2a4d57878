"""The compiled loop over the views of one picture; a single call from Python, which is not free.

numba tells the types of a plain tuple sooner than those of a named one, so what Python calls takes
plain tuples and names them itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.arrays import (
    I32,
    U8,
    U32,
    Camera,
    RenderTarget,
    SceneArrays,
    Scratch,
)
from gym_clalfred.simulator.embedded.render.raster import draw_view, find_facing, find_region
from gym_clalfred.simulator.embedded.render.readout import (
    count_instances,
    write_depth,
    write_instances,
)
from gym_clalfred.simulator.embedded.render.shading import shade_view
from gym_clalfred.simulator.jit import exact

Plain = tuple[Any, ...]


@exact
def render_views(
    camera: Plain,
    objects: int,
    scene: Plain,
    texels: U32,
    levels: I32,
    classes_of: U8,
    carried: bool,
    stamp: int,
    scratch: Plain,
    output: Plain,
) -> None:
    """Renders all views.

    Args:
        camera, scene, scratch, output: the fields of ``Camera`` and so on.
        objects: how many there are.
        texels, levels: as ``texture_atlas`` gives them.
        classes_of: (I,) class of each instance.
        carried: whether to draw what is carried.
        stamp: before the first view's; see ``shade_view``.
    """
    camera, scene = Camera(*camera), SceneArrays(*scene)
    scratch, output = Scratch(*scratch), RenderTarget(*output)
    find_facing(camera, objects, scene, carried, scratch)
    pixels = camera.size * camera.size
    for v in range(len(camera.bases)):
        draw_view(camera, v, (0, camera.size, 0, camera.size), objects, scene, scratch)
        first = v * pixels
        if len(output.depths) > 0:
            write_depth(scratch.inverse_depth, output.depths[first : first + pixels])
        if len(output.rgb) > 0:
            shade_view(camera, v, stamp + 1 + v, scene, texels, levels, classes_of, scratch, output)
        elif len(output.instances) > 0:
            write_instances(camera.size, scene.owners, scratch, output.instances[first:])


@exact
def look(
    camera: Plain,
    objects: int,
    scene: Plain,
    classes_of: U8,
    wanted: int,
    scratch: Plain,
    output: Plain,
    sums: NDArray[np.int64],
) -> None:
    """Finds which instance each pixel of one view shows, without what is carried, and counts.

    Args:
        camera, scene, scratch: the fields of ``Camera`` and so on.
        objects: how many there are.
        classes_of: (I,) class of each instance.
        wanted: the class that matters, or -1; elsewhere the view may stay empty.
        output: of ``RenderTarget``; gets instances and, if they are wanted, depths.
        sums: (I, 3) out, pixels of each instance and the sums of their rows and columns.
    """
    camera, scene = Camera(*camera), SceneArrays(*scene)
    scratch, output = Scratch(*scratch), RenderTarget(*output)
    size, depths = camera.size, output.depths
    find_facing(camera, objects, scene, False, scratch)
    region = (0, size, 0, size)
    if wanted >= 0:
        region = find_region(camera, objects, scene, classes_of, wanted, scratch)
    output.instances[:] = 0
    depths[:] = 0
    sums[:] = 0
    if region[0] >= region[1] or region[2] >= region[3]:
        return
    draw_view(camera, 0, region, objects, scene, scratch)
    if len(depths) > 0:
        first, last = region[0] * size, region[1] * size
        write_depth(scratch.inverse_depth[first:last], depths[first:last])
    count_instances(size, region, scene.owners, scratch, output.instances, sums)
