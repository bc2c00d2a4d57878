"""Usual extents and origins of AI2-THOR's pickupable classes, for objects with few or no masks.

Medians over all objects of a class in ALFRED's train split, as ``items.class_shapes`` gives them.
"""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.room import ItemShape

#: Size, origin and turn by class; heights of origins are from the recorded position.
USUAL_ITEMS = {
    ObjectClass.AlarmClock: ItemShape((0.234, 0.17, 0.103), (0.001, -0.016, -0.001), 0.0),
    ObjectClass.Apple: ItemShape((0.113, 0.118, 0.102), (0.0, -0.059, 0.001), 0.0),
    ObjectClass.BaseballBat: ItemShape((0.24, 0.077, 0.465), (0.04, 0.073, -0.034), 0.0),
    ObjectClass.BasketBall: ItemShape((0.234, 0.219, 0.229), (0.01, -0.023, -0.004), 0.0),
    ObjectClass.Book: ItemShape((0.215, 0.032, 0.266), (0.001, -0.002, 0.0), 0.0),
    ObjectClass.Bowl: ItemShape((0.202, 0.088, 0.202), (0.0, -0.005, 0.0), 0.0),
    ObjectClass.Box: ItemShape((0.382, 0.184, 0.38), (0.002, -0.08, -0.1), 0.0),
    ObjectClass.Bread: ItemShape((0.169, 0.136, 0.293), (0.0, -0.087, 0.001), 0.0),
    ObjectClass.ButterKnife: ItemShape((0.027, 0.01, 0.266), (0.002, -0.004, -0.004), 270.0),
    ObjectClass.CD: ItemShape((0.117, 0.006, 0.118), (0.0, -0.006, 0.0), 0.0),
    ObjectClass.Candle: ItemShape((0.046, 0.14, 0.041), (0.0, -0.002, 0.0), 0.0),
    ObjectClass.CellPhone: ItemShape((0.075, 0.01, 0.156), (0.0, -0.001, 0.0), 0.0),
    ObjectClass.Cloth: ItemShape((0.22, 0.021, 0.178), (0.001, -0.002, 0.0), 0.0),
    ObjectClass.CreditCard: ItemShape((0.083, 0.004, 0.051), (0.0, 0.0, 0.0), 0.0),
    ObjectClass.Cup: ItemShape((0.115, 0.145, 0.113), (0.0, 0.002, 0.0), 0.0),
    ObjectClass.DishSponge: ItemShape((0.069, 0.025, 0.136), (0.0, -0.001, 0.0), 0.0),
    ObjectClass.Egg: ItemShape((0.069, 0.073, 0.059), (0.0, -0.044, 0.0), 0.0),
    ObjectClass.Fork: ItemShape((0.028, 0.016, 0.233), (-0.021, -0.012, 0.0), 270.0),
    ObjectClass.Glassbottle: ItemShape((0.113, 0.214, 0.106), (-0.001, 0.013, 0.001), 0.0),
    ObjectClass.HandTowel: ItemShape((0.098, 0.219, 0.33), (0.0, -0.243, 0.059), 0.0),
    ObjectClass.Kettle: ItemShape((0.226, 0.185, 0.21), (0.001, -0.017, -0.002), 270.0),
    ObjectClass.KeyChain: ItemShape((0.127, 0.011, 0.068), (-0.03, -0.01, 0.008), 0.0),
    ObjectClass.Knife: ItemShape((0.031, 0.015, 0.322), (-0.035, -0.027, 0.004), 270.0),
    ObjectClass.Ladle: ItemShape((0.098, 0.037, 0.27), (-0.005, -0.047, 0.0), 90.0),
    ObjectClass.Laptop: ItemShape((0.349, 0.026, 0.269), (0.0, 0.001, 0.009), 0.0),
    ObjectClass.Lettuce: ItemShape((0.148, 0.156, 0.226), (0.002, -0.077, -0.004), 0.0),
    ObjectClass.Mug: ItemShape((0.111, 0.1, 0.097), (-0.009, -0.002, 0.0), 0.0),
    ObjectClass.Newspaper: ItemShape((0.336, 0.014, 0.118), (-0.003, 0.003, -0.004), 0.0),
    ObjectClass.Pan: ItemShape((0.277, 0.06, 0.435), (-0.001, -0.004, -0.069), 180.0),
    ObjectClass.Pen: ItemShape((0.012, 0.012, 0.187), (0.006, -0.013, 0.0), 270.0),
    ObjectClass.Pencil: ItemShape((0.009, 0.009, 0.168), (0.003, -0.011, 0.0), 270.0),
    ObjectClass.PepperShaker: ItemShape((0.058, 0.112, 0.051), (0.0, 0.001, 0.001), 0.0),
    ObjectClass.Pillow: ItemShape((0.4, 0.127, 0.336), (0.003, -0.046, 0.0), 0.0),
    ObjectClass.Plate: ItemShape((0.251, 0.022, 0.244), (0.0, -0.015, 0.0), 0.0),
    ObjectClass.Plunger: ItemShape((0.152, 0.517, 0.157), (0.0, 0.009, 0.003), 0.0),
    ObjectClass.Pot: ItemShape((0.317, 0.157, 0.306), (-0.001, 0.006, -0.002), 0.0),
    ObjectClass.Potato: ItemShape((0.085, 0.072, 0.118), (0.0, -0.036, 0.001), 0.0),
    ObjectClass.RemoteControl: ItemShape((0.059, 0.019, 0.207), (0.0, -0.01, 0.0), 0.0),
    ObjectClass.SaltShaker: ItemShape((0.058, 0.111, 0.052), (-0.001, -0.002, 0.001), 0.0),
    ObjectClass.SoapBar: ItemShape((0.054, 0.021, 0.09), (0.0, 0.003, 0.0), 0.0),
    ObjectClass.SoapBottle: ItemShape((0.109, 0.217, 0.098), (0.001, 0.003, 0.0), 0.0),
    ObjectClass.Spatula: ItemShape((0.064, 0.013, 0.288), (-0.071, -0.001, 0.0), 90.0),
    ObjectClass.Spoon: ItemShape((0.037, 0.015, 0.2), (-0.015, 0.0, 0.0), 270.0),
    ObjectClass.SprayBottle: ItemShape((0.113, 0.238, 0.033), (-0.002, 0.002, 0.0), 0.0),
    ObjectClass.Statue: ItemShape((0.246, 0.342, 0.19), (-0.011, -0.008, 0.003), 0.0),
    ObjectClass.TennisRacket: ItemShape((0.258, 0.035, 0.482), (0.003, -0.015, 0.034), 0.0),
    ObjectClass.TissueBox: ItemShape((0.176, 0.14, 0.094), (0.0, -0.002, 0.001), 0.0),
    ObjectClass.ToiletPaper: ItemShape((0.102, 0.11, 0.101), (0.0, 0.003, 0.001), 0.0),
    ObjectClass.Tomato: ItemShape((0.133, 0.113, 0.124), (0.001, -0.067, 0.0), 0.0),
    ObjectClass.Vase: ItemShape((0.188, 0.185, 0.167), (-0.001, -0.023, -0.002), 0.0),
    ObjectClass.Watch: ItemShape((0.082, 0.015, 0.048), (0.0, 0.0, 0.001), 0.0),
    ObjectClass.WateringCan: ItemShape((0.142, 0.175, 0.275), (-0.005, 0.015, 0.034), 0.0),
    ObjectClass.WineBottle: ItemShape((0.098, 0.323, 0.088), (0.0, 0.002, 0.0), 0.0),
}
