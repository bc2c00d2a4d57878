"""Usual extents of every object class in metres.

Small objects follow the widths that ALFRED's recorded masks show; furniture is what one finds at
home. Long thin things lie along their own z axis.
"""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.style import fraction


@dataclass(frozen=True)
class Extent:
    """Median width (x), height (y) and depth (z), and the share by which styles differ from it."""

    width: float
    height: float
    depth: float
    spread: float

    def of(self, style: int) -> Vector:
        """The extents of one style, to the millimetre; the three scale together."""
        factor = 1.0 + self.spread * (2.0 * fraction(style, "size") - 1.0)
        return (
            round(self.width * factor, 3),
            round(self.height * factor, 3),
            round(self.depth * factor, 3),
        )

    @property
    def median(self) -> Vector:
        """The extents without variation."""
        return (self.width, self.height, self.depth)


_TABLE = """
AlarmClock         0.160 0.110 0.070 0.20
Apple              0.099 0.090 0.099 0.15
ArmChair           0.850 0.900 0.820 0.06
BaseballBat        0.070 0.070 0.840 0.05
BasketBall         0.237 0.237 0.237 0.02
Bathtub            1.600 0.560 0.760 0.05
BathtubBasin       1.420 0.440 0.580 0.05
Bed                1.500 1.000 2.050 0.06
Blinds             1.200 1.200 0.050 0.10
Book               0.180 0.035 0.245 0.15
Boots              0.240 0.260 0.280 0.05
Bowl               0.205 0.080 0.205 0.12
Box                0.460 0.240 0.330 0.15
Bread              0.120 0.110 0.230 0.15
ButterKnife        0.022 0.012 0.230 0.08
Cabinet            0.600 0.700 0.480 0.05
Candle             0.056 0.110 0.056 0.25
Cart               0.520 0.820 0.400 0.05
CD                 0.112 0.006 0.112 0.02
CellPhone          0.075 0.011 0.148 0.08
Chair              0.460 0.900 0.490 0.06
Cloth              0.200 0.022 0.200 0.12
CoffeeMachine      0.240 0.340 0.300 0.08
CounterTop         1.200 0.900 0.620 0.02
CreditCard         0.086 0.004 0.054 0.00
Cup                0.105 0.125 0.105 0.12
Curtains           1.600 1.900 0.090 0.08
Desk               1.250 0.760 0.620 0.06
DeskLamp           0.230 0.460 0.230 0.10
DishSponge         0.085 0.032 0.130 0.08
Drawer             0.450 0.180 0.450 0.05
Dresser            1.050 0.860 0.480 0.08
Egg                0.050 0.050 0.064 0.10
FloorLamp          0.400 1.600 0.400 0.08
Footstool          0.400 0.300 0.400 0.08
Fork               0.027 0.016 0.200 0.08
Fridge             0.820 1.800 0.760 0.05
GarbageCan         0.330 0.430 0.330 0.05
Glassbottle        0.110 0.215 0.110 0.06
HandTowel          0.160 0.030 0.350 0.06
HandTowelHolder    0.240 0.450 0.090 0.02
HousePlant         0.420 0.700 0.420 0.15
Kettle             0.222 0.190 0.170 0.08
KeyChain           0.060 0.012 0.115 0.08
Knife              0.036 0.016 0.310 0.06
Ladle              0.085 0.055 0.285 0.06
Laptop             0.360 0.024 0.250 0.10
LaundryHamper      0.450 0.600 0.400 0.06
LaundryHamperLid   0.460 0.040 0.410 0.06
Lettuce            0.195 0.150 0.195 0.12
LightSwitch        0.080 0.125 0.022 0.00
Microwave          0.520 0.320 0.400 0.03
Mirror             0.700 0.900 0.040 0.15
Mug                0.120 0.096 0.088 0.12
Newspaper          0.220 0.014 0.320 0.08
Ottoman            0.720 0.430 0.560 0.08
Painting           0.650 0.500 0.040 0.20
Pan                0.250 0.055 0.420 0.08
PaperTowel         0.140 0.020 0.140 0.05
PaperTowelRoll     0.115 0.250 0.115 0.05
Pen                0.012 0.012 0.160 0.06
Pencil             0.010 0.010 0.175 0.06
PepperShaker       0.054 0.105 0.054 0.10
Pillow             0.420 0.130 0.300 0.12
Plate              0.225 0.022 0.225 0.10
Plunger            0.155 0.450 0.155 0.08
Poster             0.500 0.700 0.012 0.15
Pot                0.330 0.135 0.225 0.10
Potato             0.080 0.064 0.105 0.15
RemoteControl      0.054 0.022 0.185 0.10
Safe               0.450 0.460 0.420 0.05
SaltShaker         0.054 0.105 0.054 0.10
ScrubBrush         0.095 0.380 0.095 0.06
Shelf              0.900 0.030 0.280 0.04
ShowerDoor         0.800 2.000 0.050 0.02
ShowerGlass        0.900 2.000 0.030 0.02
Sink               0.800 0.900 0.620 0.02
SinkBasin          0.560 0.180 0.400 0.02
SoapBar            0.060 0.028 0.086 0.12
SoapBottle         0.095 0.190 0.075 0.10
Sofa               2.000 0.850 0.900 0.06
Spatula            0.075 0.030 0.300 0.06
Spoon              0.040 0.018 0.185 0.08
SprayBottle        0.105 0.240 0.072 0.08
Statue             0.180 0.280 0.150 0.12
StoveBurner        0.220 0.018 0.220 0.02
StoveKnob          0.046 0.046 0.030 0.00
DiningTable        1.500 0.760 0.900 0.06
CoffeeTable        1.050 0.430 0.620 0.08
SideTable          0.520 0.620 0.460 0.04
TeddyBear          0.280 0.340 0.220 0.10
Television         1.050 0.680 0.180 0.12
TennisRacket       0.255 0.035 0.660 0.04
TissueBox          0.194 0.100 0.120 0.08
Toaster            0.310 0.200 0.190 0.06
Toilet             0.420 0.800 0.680 0.04
ToiletPaper        0.110 0.105 0.110 0.08
ToiletPaperHanger  0.160 0.160 0.150 0.02
ToiletPaperRoll    0.048 0.105 0.048 0.05
Tomato             0.110 0.090 0.110 0.12
Towel              0.460 0.036 0.600 0.05
TowelHolder        0.620 0.660 0.090 0.02
TVStand            1.450 0.500 0.420 0.08
Vase               0.160 0.250 0.160 0.12
Watch              0.045 0.014 0.085 0.08
WateringCan        0.265 0.190 0.130 0.10
Window             1.200 1.200 0.060 0.10
WineBottle         0.090 0.310 0.090 0.05
AppleSliced        0.085 0.045 0.050 0.08
ShowerCurtain      1.600 2.000 0.110 0.05
TomatoSliced       0.090 0.022 0.090 0.08
LettuceSliced      0.130 0.030 0.110 0.08
Lamp               0.300 0.520 0.300 0.10
ShowerHead         0.180 0.300 0.260 0.05
EggCracked         0.110 0.022 0.110 0.08
BreadSliced        0.112 0.020 0.105 0.05
PotatoSliced       0.072 0.018 0.060 0.08
Faucet             0.200 0.280 0.200 0.06
"""


def _read(table: str) -> dict[ObjectClass, Extent]:
    rows = (line.split() for line in table.strip().splitlines())
    return {ObjectClass[name]: Extent(*map(float, numbers)) for name, *numbers in rows}


#: The extents of every class but ``NoObject``.
EXTENTS = _read(_TABLE)
