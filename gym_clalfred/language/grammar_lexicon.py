"""The words for every object class, as people say them."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import SLICED_FORM, ObjectClass


@dataclass(frozen=True)
class Noun:
    """A name of a class.

    Args:
        one: singular; without an article.
        many: plural.
        countable: whether "a" and a plural make sense; if not it is only used with "the".
        plural: whether even one of it is spoken of in the plural, such as "the keys are".
    """

    one: str
    many: str
    countable: bool = True
    plural: bool = False


def with_article(phrase: str) -> str:
    """ "a" or "an" before a phrase."""
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def _plural(word: str) -> str:
    head, of, rest = word.partition(" of ")
    if head.endswith(("s", "x", "ch", "sh")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    elif head.endswith("fe"):
        head = head[:-2] + "ves"
    elif head.endswith("f"):
        head = head[:-1] + "ves"
    elif head.endswith(("tomato", "potato")):
        head += "es"
    else:
        head += "s"
    return head + of + rest


def _nouns(words: str) -> tuple[Noun, ...]:
    """From "a, =b, +c": names that can be counted, and names used only with "the".

    After "=" stands something that cannot be counted ("the soap is"), after "+" a plural ("the keys
    are").
    """
    nouns = []
    for word in (entry.strip() for entry in words.split(",")):
        name = word.lstrip("=+")
        if name == word:
            nouns.append(Noun(name, _plural(name)))
        else:
            nouns.append(Noun(name, name, countable=False, plural=word.startswith("+")))
    return tuple(nouns)


_WORDS = {
    "AlarmClock": "alarm clock, clock",
    "Apple": "apple",
    "ArmChair": "armchair, arm chair, chair",
    "BaseballBat": "baseball bat, bat",
    "BasketBall": "basketball, ball",
    "Bathtub": "bathtub, tub, bath tub",
    "BathtubBasin": "bathtub, tub, bath tub",
    "Bed": "bed",
    "Blinds": "set of blinds, +blinds",
    "Book": "book",
    "Boots": "pair of boots, +boots",
    "Bowl": "bowl",
    "Box": "box, cardboard box",
    "Bread": "loaf of bread, =bread",
    "ButterKnife": "butter knife, table knife, dull knife",
    "Cabinet": "cabinet, cupboard",
    "Candle": "candle",
    "Cart": "cart, metal rack",
    "CD": "cd, disc",
    "CellPhone": "cell phone, phone, cellphone, mobile phone",
    "Chair": "chair",
    "Cloth": "cloth, rag, wash cloth",
    "CoffeeMachine": "coffee maker, coffee machine",
    "CounterTop": "counter, countertop, counter top",
    "CreditCard": "credit card, card, bank card",
    "Cup": "cup, glass, drinking glass",
    "Curtains": "pair of curtains, +curtains",
    "Desk": "desk, writing desk",
    "DeskLamp": "desk lamp, lamp, table lamp",
    "DishSponge": "sponge, dish sponge",
    "Drawer": "drawer",
    "Dresser": "dresser, chest of drawers",
    "Egg": "egg",
    "EggCracked": "cracked egg, broken egg",
    "Faucet": "faucet, tap",
    "FloorLamp": "floor lamp, lamp, standing lamp, tall lamp",
    "Footstool": "footstool, stool",
    "Fork": "fork",
    "Fridge": "fridge, refrigerator",
    "GarbageCan": "trash can, garbage can, bin, waste basket, trash bin",
    "Glassbottle": "glass bottle, bottle",
    "HandTowel": "hand towel, towel, small towel",
    "HandTowelHolder": "hand towel holder, towel holder, hand towel rack",
    "HousePlant": "house plant, plant, potted plant",
    "Kettle": "kettle, tea kettle",
    "KeyChain": "set of keys, key chain, +keys",
    "Knife": "knife, sharp knife, kitchen knife",
    "Ladle": "ladle, soup spoon",
    "Lamp": "lamp",
    "Laptop": "laptop, computer, laptop computer",
    "LaundryHamper": "laundry hamper, hamper, laundry basket",
    "Lettuce": "head of lettuce, =lettuce",
    "LightSwitch": "light switch",
    "Microwave": "microwave, microwave oven",
    "Mirror": "mirror",
    "Mug": "mug, coffee mug, coffee cup",
    "Newspaper": "newspaper, paper",
    "Ottoman": "ottoman, footrest",
    "Painting": "painting, picture",
    "Pan": "pan, frying pan, skillet",
    "PaperTowelRoll": "roll of paper towels, paper towel roll",
    "Pen": "pen",
    "Pencil": "pencil",
    "PepperShaker": "pepper shaker, shaker of pepper",
    "Pillow": "pillow, cushion",
    "Plate": "plate, dish",
    "Plunger": "plunger",
    "Poster": "poster",
    "Pot": "pot, cooking pot",
    "Potato": "potato",
    "RemoteControl": "remote control, remote, tv remote",
    "Safe": "safe",
    "SaltShaker": "salt shaker, shaker of salt",
    "ScrubBrush": "scrub brush, toilet brush",
    "Shelf": "shelf",
    "ShowerCurtain": "shower curtain",
    "ShowerDoor": "shower door",
    "ShowerGlass": "shower glass",
    "ShowerHead": "shower head",
    "SideTable": "side table, end table, small table",
    "Sink": "sink",
    "SinkBasin": "sink, sink basin, basin",
    "SoapBar": "bar of soap, soap bar, =soap",
    "SoapBottle": "soap bottle, bottle of soap, soap dispenser",
    "Sofa": "sofa, couch",
    "Spatula": "spatula, turner",
    "Spoon": "spoon",
    "SprayBottle": "spray bottle, bottle of spray",
    "Statue": "statue, figurine, sculpture",
    "StoveBurner": "stove, stove burner, burner",
    "StoveKnob": "stove knob",
    "DiningTable": "table, dining table, big table",
    "CoffeeTable": "coffee table, low table",
    "TeddyBear": "teddy bear, stuffed bear",
    "Television": "television, tv, tv set",
    "TennisRacket": "tennis racket, racket, racquet",
    "TissueBox": "tissue box, box of tissues",
    "Toaster": "toaster",
    "Toilet": "toilet",
    "ToiletPaper": "roll of toilet paper, toilet paper roll, =toilet paper",
    "ToiletPaperHanger": "toilet paper holder, toilet paper hanger",
    "Tomato": "tomato",
    "Towel": "towel, bath towel",
    "TowelHolder": "towel holder, towel rack",
    "TVStand": "tv stand, television stand",
    "Vase": "vase",
    "Watch": "watch, wrist watch",
    "WateringCan": "watering can",
    "Window": "window",
    "WineBottle": "wine bottle, bottle of wine",
}

_SLICED_WORDS = "{0} slice, slice of {0}, piece of {0}, cut {0} piece"

#: Class -> its names, at least one of them countable; classes that no sentence names are absent.
NOUNS: dict[ObjectClass, tuple[Noun, ...]] = {
    **{ObjectClass[name]: _nouns(words) for name, words in _WORDS.items()},
    **{
        sliced: _nouns(_SLICED_WORDS.format(whole.name.lower()))
        for whole, sliced in SLICED_FORM.items()
        if whole is not ObjectClass.Egg
    },
}

_INSIDE_NAMES = """
    BathtubBasin Bowl Box Cabinet CoffeeMachine Cup Drawer Fridge GarbageCan LaundryHamper
    Microwave Mug Pan Pot Safe SinkBasin
"""
_INSIDE = frozenset(ObjectClass[name] for name in _INSIDE_NAMES.split())


def put_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that goes in or on a receptacle."""
    return ("in", "inside", "into") if receptacle in _INSIDE else ("on", "onto", "on top of")


def rest_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that is in or on a receptacle."""
    return ("in", "inside") if receptacle in _INSIDE else ("on", "on top of")


def take_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that is taken from a receptacle."""
    return ("from", "out of") if receptacle in _INSIDE else ("from", "off of", "off")
