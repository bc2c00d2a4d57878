"""Usual extents and origins of AI2-THOR's pickupable classes, for objects with few or no masks.

Medians over all objects of a class in ALFRED's train and valid seen, as ``items.class_shapes``
gives them, and the pieces of sliced things as ``items.complete_pieces`` does.
"""

from __future__ import annotations

from gym_clalfred.objects import CLASSES
from gym_clalfred.simulator.embedded.room_model import ItemShape

#: Size, origin and turn by class; heights of origins are from the recorded position.
USUAL_ITEMS = {
    kind: ItemShape(*one.thor_item)
    for kind, one in sorted(CLASSES.items(), key=lambda item: item[0].name)
    if one.thor_item is not None
}

#: Pieces by class and number, from the recorded position of the whole.
USUAL_PIECES = {
    "AppleSliced_1": ItemShape((0.053, 0.089, 0.052), (0.031, -0.051, -0.007)),
    "AppleSliced_2": ItemShape((0.053, 0.092, 0.056), (-0.029, -0.057, -0.016)),
    "BreadSliced_1": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.021)),
    "BreadSliced_2": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.048)),
    "BreadSliced_3": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.075)),
    "BreadSliced_4": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.102)),
    "BreadSliced_5": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.129)),
    "BreadSliced_6": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.156)),
    "BreadSliced_7": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.183)),
    "BreadSliced_8": ItemShape((0.165, 0.136, 0.029), (-0.002, -0.075, -0.21)),
    "LettuceSliced_1": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.013)),
    "LettuceSliced_2": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.034)),
    "LettuceSliced_3": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.054)),
    "LettuceSliced_4": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.075)),
    "LettuceSliced_5": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.096)),
    "LettuceSliced_6": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.116)),
    "LettuceSliced_7": ItemShape((0.138, 0.134, 0.023), (0.0, -0.08, -0.137)),
    "PotatoSliced_1": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.006)),
    "PotatoSliced_2": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.016)),
    "PotatoSliced_3": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.026)),
    "PotatoSliced_4": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.037)),
    "PotatoSliced_5": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.047)),
    "PotatoSliced_6": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.058)),
    "PotatoSliced_7": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.068)),
    "PotatoSliced_8": ItemShape((0.073, 0.059, 0.012), (0.002, -0.043, -0.079)),
    "TomatoSliced_1": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.009)),
    "TomatoSliced_2": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.019)),
    "TomatoSliced_3": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.029)),
    "TomatoSliced_4": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.039)),
    "TomatoSliced_5": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.049)),
    "TomatoSliced_6": ItemShape((0.108, 0.082, 0.012), (0.0, -0.052, -0.059)),
}
