"""The labels of CL-ALFRED's object classes, and which of them can do what.

The value of a class is its index in the policy's class head: the 119 labels of CL-ALFRED in their
own order, index 0 meaning "no object". What is known of a class is its record in ``classes``.
"""

from __future__ import annotations

from enum import IntEnum

from gym_clalfred.classes import INSTALLED, RECORDS


class ObjectClass(IntEnum):
    """A label of the class head; names are AI2-THOR's object types."""

    NoObject = 0
    AlarmClock = 1
    Apple = 2
    ArmChair = 3
    BaseballBat = 4
    BasketBall = 5
    Bathtub = 6
    BathtubBasin = 7
    Bed = 8
    Blinds = 9
    Book = 10
    Boots = 11
    Bowl = 12
    Box = 13
    Bread = 14
    ButterKnife = 15
    Cabinet = 16
    Candle = 17
    Cart = 18
    CD = 19
    CellPhone = 20
    Chair = 21
    Cloth = 22
    CoffeeMachine = 23
    CounterTop = 24
    CreditCard = 25
    Cup = 26
    Curtains = 27
    Desk = 28
    DeskLamp = 29
    DishSponge = 30
    Drawer = 31
    Dresser = 32
    Egg = 33
    FloorLamp = 34
    Footstool = 35
    Fork = 36
    Fridge = 37
    GarbageCan = 38
    Glassbottle = 39
    HandTowel = 40
    HandTowelHolder = 41
    HousePlant = 42
    Kettle = 43
    KeyChain = 44
    Knife = 45
    Ladle = 46
    Laptop = 47
    LaundryHamper = 48
    LaundryHamperLid = 49
    Lettuce = 50
    LightSwitch = 51
    Microwave = 52
    Mirror = 53
    Mug = 54
    Newspaper = 55
    Ottoman = 56
    Painting = 57
    Pan = 58
    PaperTowel = 59
    PaperTowelRoll = 60
    Pen = 61
    Pencil = 62
    PepperShaker = 63
    Pillow = 64
    Plate = 65
    Plunger = 66
    Poster = 67
    Pot = 68
    Potato = 69
    RemoteControl = 70
    Safe = 71
    SaltShaker = 72
    ScrubBrush = 73
    Shelf = 74
    ShowerDoor = 75
    ShowerGlass = 76
    Sink = 77
    SinkBasin = 78
    SoapBar = 79
    SoapBottle = 80
    Sofa = 81
    Spatula = 82
    Spoon = 83
    SprayBottle = 84
    Statue = 85
    StoveBurner = 86
    StoveKnob = 87
    DiningTable = 88
    CoffeeTable = 89
    SideTable = 90
    TeddyBear = 91
    Television = 92
    TennisRacket = 93
    TissueBox = 94
    Toaster = 95
    Toilet = 96
    ToiletPaper = 97
    ToiletPaperHanger = 98
    ToiletPaperRoll = 99
    Tomato = 100
    Towel = 101
    TowelHolder = 102
    TVStand = 103
    Vase = 104
    Watch = 105
    WateringCan = 106
    Window = 107
    WineBottle = 108
    AppleSliced = 109
    ShowerCurtain = 110
    TomatoSliced = 111
    LettuceSliced = 112
    Lamp = 113
    ShowerHead = 114
    EggCracked = 115
    BreadSliced = 116
    PotatoSliced = 117
    Faucet = 118


if INSTALLED:
    _LABELS = (*ObjectClass.__members__, *INSTALLED)
    globals()["ObjectClass"] = IntEnum("ObjectClass", _LABELS, start=0, module=__name__)

#: What is known of every class but ``NoObject``.
CLASSES = {ObjectClass[name]: record for name, record in RECORDS.items()}


def classes(names: str) -> frozenset[ObjectClass]:
    """Classes by name, with blanks between."""
    return frozenset(ObjectClass[name] for name in sorted(names.split()))


def having(trait: str) -> frozenset[ObjectClass]:
    """The classes that have one of ``classes.record.TRAITS``."""
    return classes(" ".join(name for name, one in RECORDS.items() if trait in one.traits.split()))


#: Classes that can be carried, with the sliced forms.
PICKUPABLE = having("pickupable")

#: Classes that hold other objects.
RECEPTACLES = having("receptacle")

#: Receptacles that can themselves be carried.
MOVABLE_RECEPTACLES = having("movable")

#: Classes with a door, a drawer front or a lid.
OPENABLE = having("openable")

#: Containers that hide their contents until opened.
CLOSED_AT_START = having("closed")

#: Tools that can slice.
KNIVES = having("knife")

#: Targets of Heat, Cool and Clean tasks.
HEATABLE, COOLABLE, CLEANABLE = map(having, ("heatable", "coolable", "cleanable"))

#: Lamps of Examine tasks.
LAMPS = having("lamp")

#: What slicing turns a class into.
SLICED_FORM = {
    ObjectClass.Apple: ObjectClass.AppleSliced,
    ObjectClass.Bread: ObjectClass.BreadSliced,
    ObjectClass.Lettuce: ObjectClass.LettuceSliced,
    ObjectClass.Potato: ObjectClass.PotatoSliced,
    ObjectClass.Tomato: ObjectClass.TomatoSliced,
    ObjectClass.Egg: ObjectClass.EggCracked,
}

#: Classes that a knife cuts.
SLICEABLE = frozenset(SLICED_FORM)

#: Classes that can be switched on and off.
TOGGLEABLE = having("toggleable")

#: Classes that Examine and people know as parts of another object; they never stand alone.
PARTS = having("part")
