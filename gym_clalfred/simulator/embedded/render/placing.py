"""Compiled kernels that put an object's polygons into a stage's arrays: transform, paint, light."""

from __future__ import annotations

from typing import Any

import numpy as np

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.arrays import F32, ONE, ZERO, Faces, SceneArrays
from gym_clalfred.simulator.embedded.render.mesh import Texture
from gym_clalfred.simulator.jit import kernel

#: Texels of a texture tile's side.
TILE = 256

#: Keeps texture coordinates positive; a multiple of ``TILE`` that float32 still resolves finely.
POSITIVE = np.float32(65536.0)

# Columns of ``SceneArrays.paints``.
U, V, COLOUR, GRADIENT, DENSITY = 0, 4, 8, 11, 15

GAMMA = np.float32(1 / 2.2)

FITTED = (int(Texture.PICTURE), int(Texture.KEYS), int(Texture.BURNER))
GRAINED = (int(Texture.WOOD), int(Texture.METAL), int(Texture.BREAD))
SKY = int(Texture.SKY)
SHIFTED = (int(Texture.WOOD), int(Texture.METAL), int(Texture.MARBLE))


@kernel(error_model="numpy")
def place(
    first: int,
    slot: int,
    instance: int,
    at: Vector,
    turn: tuple[float, float],
    rooted: bool,
    faces: tuple[Any, ...],
    tiles: F32,
    scene: tuple[Any, ...],
) -> None:
    """Writes a mesh into a scene: all that is kept per polygon, from ``first`` on, and its sphere.

    Args:
        slot: the object's.
        at: where the origin of the mesh goes.
        turn: sine and cosine of the turn about the vertical.
        rooted: darken towards the base, as furniture is where it meets the floor.
        faces, scene: the fields of ``Faces`` and ``SceneArrays``; plain tuples are quicker to pass.
        tiles: (T,) pattern repeats per texture tile.
    """
    faces, scene = Faces(*faces), SceneArrays(*scene)
    position = np.array([at[0], at[1], at[2]], dtype=np.float32)
    yaw = np.array([turn[0], turn[1]], dtype=np.float32)
    transform(first, position, yaw, faces, scene, scene.spheres[slot])
    paint(first, position[1], yaw, faces, tiles, rooted, scene)
    for p in range(first, first + len(faces.counts)):
        scene.owners[p] = instance
        scene.receivers_of[p] = -1


@kernel(error_model="numpy")
def transform(
    first: int, position: F32, yaw: F32, faces: Faces, scene: SceneArrays, sphere: F32
) -> None:
    """Writes a mesh's polygons at ``first`` in world coordinates, wound alike, and its sphere.

    Args:
        position: (3,) where the origin of the mesh goes.
        yaw: (2,) sine and cosine of the turn about the vertical.
        sphere: (4,) out, centre and radius.
    """
    source_corners, source_counts = faces.corners, faces.counts
    source_normals = faces.normals
    corners, counts, planes = scene.corners, scene.counts, scene.planes
    sine, cosine = yaw[0], yaw[1]
    low = np.full(3, np.float32(1e30))
    high = np.full(3, np.float32(-1e30))
    for p in range(len(source_counts)):
        count = source_counts[p]
        q = first + p
        counts[q] = count
        nx, ny, nz = source_normals[p, 0], source_normals[p, 1], source_normals[p, 2]
        turn = ZERO
        for k in range(2, count):
            ax = source_corners[p, k - 1, 0] - source_corners[p, 0, 0]
            ay = source_corners[p, k - 1, 1] - source_corners[p, 0, 1]
            az = source_corners[p, k - 1, 2] - source_corners[p, 0, 2]
            bx = source_corners[p, k, 0] - source_corners[p, 0, 0]
            by = source_corners[p, k, 1] - source_corners[p, 0, 1]
            bz = source_corners[p, k, 2] - source_corners[p, 0, 2]
            turn += nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
        planes[q, 0] = cosine * nx + sine * nz
        planes[q, 1] = ny
        planes[q, 2] = cosine * nz - sine * nx
        offset = ZERO
        for k in range(count):
            s = k if turn > ZERO else count - 1 - k
            x, y, z = source_corners[p, s, 0], source_corners[p, s, 1], source_corners[p, s, 2]
            corners[q, k, 0] = cosine * x + sine * z + position[0]
            corners[q, k, 1] = y + position[1]
            corners[q, k, 2] = cosine * z - sine * x + position[2]
            for i in range(3):
                low[i] = min(low[i], corners[q, k, i])
                high[i] = max(high[i], corners[q, k, i])
                offset += planes[q, i] * corners[q, k, i]
        planes[q, 3] = offset / np.float32(count)
    radius = ZERO
    for i in range(3):
        sphere[i] = np.float32(0.5) * (low[i] + high[i])
    for p in range(first, first + len(source_counts)):
        for k in range(counts[p]):
            square = ZERO
            for i in range(3):
                square += (corners[p, k, i] - sphere[i]) ** 2
            radius = max(radius, square)
    sphere[3] = np.sqrt(radius) + np.float32(1e-4)


@kernel(error_model="numpy")
def paint(
    first: int,
    base: np.float32,
    yaw: F32,
    faces: Faces,
    tiles: F32,
    rooted: bool,
    scene: SceneArrays,
) -> None:
    """Sets texture coordinates and light of the polygons that ``transform`` wrote at ``first``.

    Args:
        base: height of the object's base.
    """
    colours, textures, scales = faces.colours, faces.textures, faces.scales
    glow, bends, light = faces.glow, faces.bends, scene.light
    corners, counts, planes = scene.corners, scene.counts, scene.planes
    paints, patterns = scene.paints, scene.patterns
    sine, cosine = yaw[0], yaw[1]
    for p in range(len(textures)):
        q = first + p
        texture = textures[p]
        patterns[q] = texture
        count = counts[q]
        nx, ny, nz = planes[q, 0], planes[q, 1], planes[q, 2]
        # Tangents: for level polygons the object's own x and z, for others level and upwards.
        if abs(ny) > np.float32(0.7):
            ux, uy, uz = cosine, ZERO, -sine
            level = ux * nx + uz * nz
            ux, uy, uz = ux - level * nx, -level * ny, uz - level * nz
        else:
            ux, uy, uz = nz, ZERO, -nx
        length = np.sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / length, uy / length, uz / length
        vx, vy, vz = uy * nz - uz * ny, uz * nx - ux * nz, ux * ny - uy * nx
        if vy < -np.float32(0.3) or (abs(vy) <= np.float32(0.3) and vz * cosine + vx * sine < ZERO):
            vx, vy, vz = -vx, -vy, -vz
        u_low, u_high = np.float32(1e30), np.float32(-1e30)
        v_low, v_high = np.float32(1e30), np.float32(-1e30)
        mx, my, mz = ZERO, ZERO, ZERO
        for k in range(count):
            x, y, z = corners[q, k, 0], corners[q, k, 1], corners[q, k, 2]
            u, v = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
            u_low, u_high = min(u_low, u), max(u_high, u)
            v_low, v_high = min(v_low, v), max(v_high, v)
            mx, my, mz = mx + x, my + y, mz + z
        mx, my, mz = mx / np.float32(count), my / np.float32(count), mz / np.float32(count)
        if texture in GRAINED and v_high - v_low > u_high - u_low:
            ux, uy, uz, vx, vy, vz = vx, vy, vz, ux, uy, uz
            u_low, u_high, v_low, v_high = v_low, v_high, u_low, u_high
        if texture in FITTED:
            u_density = np.float32(TILE) / max(u_high - u_low, np.float32(1e-3))
            v_density = np.float32(TILE) / max(v_high - v_low, np.float32(1e-3))
            u_offset, v_offset = -u_low * u_density, (v_high) * v_density
        else:
            u_density = np.float32(TILE) / (tiles[texture] * scales[p])
            v_density = u_density
            # Anchored to the object, so that the pattern travels with it; the room has its own.
            anchored = rooted or texture == SKY
            anchor_u, anchor_v = (u_low, v_high) if anchored else (ZERO, ZERO)
            u_offset, v_offset = -anchor_u * u_density, anchor_v * v_density
            if texture in SHIFTED:
                u_offset += np.float32((p * 97) % TILE)
                v_offset += np.float32((p * 57) % TILE)
        # Rows of a tile run downwards, the v axis upwards.
        for i, a, b in ((0, ux, vx), (1, uy, vy), (2, uz, vz)):
            paints[q, U + i] = a * u_density
            paints[q, V + i] = -b * v_density
        paints[q, U + 3] = u_offset + POSITIVE
        paints[q, V + 3] = v_offset + POSITIVE
        paints[q, DENSITY] = np.sqrt(u_density * v_density)

        toward = nx * light[0] + ny * light[1] + nz * light[2]
        # Wrapped diffuse light keeps shape visible on the dark side.
        wrap = max(ZERO, (toward + np.float32(0.35)) / np.float32(1.35))
        # From above more than from below, and what the floor throws back.
        sky = light[6] * (np.float32(0.82) + np.float32(0.18) * ny)
        sky += np.float32(0.18) * max(ZERO, -ny)
        mean = ZERO
        for i in range(3):
            energy = sky + (ONE - light[6]) * light[3 + i] * wrap * np.float32(1.25)
            lit = energy**GAMMA
            mean += lit / np.float32(3)
            lit += glow[p] * (ONE - lit)
            paints[q, COLOUR + i] = np.float32(colours[p, i]) * lit
        # d(light) / d(position), relative: the bend of the surface, and shade near the base.
        gx, gy, gz = ZERO, ZERO, ZERO
        if wrap > ZERO:
            bx, by, bz = bends[p, 0], bends[p, 1], bends[p, 2]
            bx, bz = cosine * bx + sine * bz, cosine * bz - sine * bx
            bend = np.sqrt(bx * bx + by * by + bz * bz)
            if bend > ZERO:
                across = (bx * light[0] + by * light[1] + bz * light[2]) / bend
                strength = (ONE - light[6]) * across * GAMMA / max(mean * mean, np.float32(0.1))
                gx, gy, gz = bx * strength, by * strength, bz * strength
        constant = ONE
        if rooted:
            y_low, y_high = np.float32(1e30), np.float32(-1e30)
            for k in range(count):
                y_low = min(y_low, corners[q, k, 1] - base)
                y_high = max(y_high, corners[q, k, 1] - base)
            low_light = ONE - np.float32(0.22) * np.exp(-max(y_low, ZERO) * np.float32(5.0))
            high_light = ONE - np.float32(0.22) * np.exp(-max(y_high, ZERO) * np.float32(5.0))
            if y_high - y_low > np.float32(1e-3):
                climb = (high_light - low_light) / (y_high - y_low)
                gy += climb
                constant = low_light + climb * (my - base - y_low)
            else:
                constant = low_light
        keep = ONE - glow[p]
        gx, gy, gz = gx * keep, gy * keep, gz * keep
        paints[q, GRADIENT] = gx
        paints[q, GRADIENT + 1] = gy
        paints[q, GRADIENT + 2] = gz
        constant = constant * keep + glow[p]
        paints[q, GRADIENT + 3] = constant - (gx * mx + gy * my + gz * mz)
