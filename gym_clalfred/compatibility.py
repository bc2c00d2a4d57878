"""Which class may go where when tasks are sampled, and how often, from ALFRED's data.

These tables limit what the generator asks for; they are not enforced when an agent acts.
"""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass


def _table(rows: dict[str, str]) -> dict[ObjectClass, frozenset[ObjectClass]]:
    return {
        ObjectClass[holder]: frozenset(ObjectClass[name] for name in names.split())
        for holder, names in rows.items()
    }


#: Receptacle class -> classes that ALFRED puts in or on it.
ACCEPTS = _table(
    {
        "ArmChair": (
            "BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow "
            "RemoteControl"
        ),
        "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
        "Bed": "BaseballBat BasketBall Book CellPhone Laptop Newspaper Pillow TennisRacket",
        "Bowl": (
            "Apple AppleSliced ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge "
            "Egg Fork KeyChain Knife Ladle Lettuce LettuceSliced Mug PaperTowel Pen Pencil "
            "Potato PotatoSliced RemoteControl Spatula Spoon Tomato TomatoSliced Watch"
        ),
        "Box": (
            "AlarmClock Book CD Candle CellPhone Cloth CreditCard DishSponge Glassbottle "
            "KeyChain Mug PaperTowel Pen Pencil RemoteControl Statue TissueBox Vase Watch"
        ),
        "Cabinet": (
            "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle "
            "Mug Newspaper Pan PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle "
            "SprayBottle TissueBox ToiletPaper ToiletPaperRoll Vase WateringCan WineBottle"
        ),
        "Cart": (
            "Candle Cloth DishSponge HandTowel Mug PaperTowel Plunger SoapBar SoapBottle "
            "SprayBottle Statue TissueBox ToiletPaper ToiletPaperRoll Vase"
        ),
        "CoffeeMachine": "Mug",
        "CoffeeTable": (
            "AlarmClock Apple AppleSliced BaseballBat BasketBall Book Bowl Box Bread "
            "BreadSliced ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg "
            "Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce "
            "LettuceSliced Mug Newspaper Pan PaperTowel Pen Pencil PepperShaker Plate Pot "
            "Potato PotatoSliced RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato "
            "TomatoSliced Vase Watch WateringCan WineBottle"
        ),
        "CounterTop": (
            "AlarmClock Apple AppleSliced BaseballBat BasketBall Book Bowl Box Bread "
            "BreadSliced ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg "
            "Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce "
            "LettuceSliced Mug Newspaper Pan PaperTowel Pen Pencil PepperShaker Plate Pot "
            "Potato PotatoSliced RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato "
            "TomatoSliced Vase Watch WateringCan WineBottle"
        ),
        "Cup": "ButterKnife Fork Spoon",
        "Desk": (
            "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup "
            "Glassbottle KeyChain Laptop Mug Newspaper Pen Pencil Plate RemoteControl "
            "SoapBottle SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll "
            "Vase Watch WateringCan WineBottle"
        ),
        "DiningTable": (
            "AlarmClock Apple AppleSliced BaseballBat BasketBall Book Bowl Box Bread "
            "BreadSliced ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg "
            "Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce "
            "LettuceSliced Mug Newspaper Pan PaperTowel Pen Pencil PepperShaker Plate Pot "
            "Potato PotatoSliced RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato "
            "TomatoSliced Vase Watch WateringCan WineBottle"
        ),
        "Drawer": (
            "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel "
            "KeyChain Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker "
            "SoapBar SoapBottle Spatula Spoon SprayBottle TissueBox ToiletPaper "
            "ToiletPaperRoll Watch WateringCan"
        ),
        "Dresser": (
            "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup "
            "Glassbottle KeyChain Laptop Mug Newspaper Pen Pencil Plate RemoteControl "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll Vase Watch "
            "WateringCan WineBottle"
        ),
        "Fridge": (
            "Apple AppleSliced Bowl Bread BreadSliced Cup Egg Glassbottle Lettuce "
            "LettuceSliced Mug Pan Plate Pot Potato PotatoSliced Tomato TomatoSliced "
            "WineBottle"
        ),
        "GarbageCan": (
            "Apple AppleSliced Bread BreadSliced CD Cloth DishSponge Egg HandTowel Lettuce "
            "LettuceSliced Newspaper PaperTowel Pen Pencil Potato PotatoSliced SoapBar "
            "SoapBottle SprayBottle TissueBox ToiletPaper ToiletPaperRoll Tomato TomatoSliced "
            "WineBottle"
        ),
        "HandTowelHolder": "HandTowel",
        "LaundryHamper": "Cloth",
        "Microwave": (
            "Apple AppleSliced Bowl Bread BreadSliced Cup Egg Glassbottle Mug Plate Potato "
            "PotatoSliced Tomato TomatoSliced"
        ),
        "Mug": "ButterKnife Fork KeyChain Knife Pen Pencil Spoon Watch",
        "Ottoman": (
            "BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow "
            "RemoteControl"
        ),
        "Pan": (
            "Apple AppleSliced ButterKnife DishSponge Egg Fork Knife Ladle Lettuce "
            "LettuceSliced Potato PotatoSliced Spatula Spoon Tomato TomatoSliced"
        ),
        "Plate": (
            "AlarmClock Apple AppleSliced Book ButterKnife CD Candle CellPhone Cloth "
            "CreditCard DishSponge Egg Fork Glassbottle KeyChain Knife Ladle Lettuce "
            "LettuceSliced Mug PaperTowel Pen Pencil Potato PotatoSliced Spatula Spoon "
            "TissueBox Tomato TomatoSliced Watch"
        ),
        "Pot": (
            "Apple AppleSliced ButterKnife DishSponge Egg Fork Knife Ladle Lettuce "
            "LettuceSliced Potato PotatoSliced Spatula Spoon Tomato TomatoSliced"
        ),
        "Safe": "CD CellPhone CreditCard KeyChain Statue Vase Watch",
        "Shelf": (
            "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge "
            "Glassbottle HandTowel Kettle KeyChain Mug Newspaper PaperTowel Pen Pencil "
            "PepperShaker Plate Pot RemoteControl SaltShaker SoapBar SoapBottle SprayBottle "
            "Statue TissueBox ToiletPaper ToiletPaperRoll Vase Watch WateringCan WineBottle"
        ),
        "SideTable": (
            "AlarmClock Apple AppleSliced BaseballBat BasketBall Book Bowl Box Bread "
            "BreadSliced ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg "
            "Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce "
            "LettuceSliced Mug Newspaper Pan PaperTowel Pen Pencil PepperShaker Plate Pot "
            "Potato PotatoSliced RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato "
            "TomatoSliced Vase Watch WateringCan WineBottle"
        ),
        "SinkBasin": (
            "Apple AppleSliced Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle "
            "HandTowel Kettle Knife Ladle Lettuce LettuceSliced Mug Pan Plate Pot Potato "
            "PotatoSliced SoapBar Spatula Spoon Tomato TomatoSliced"
        ),
        "Sofa": (
            "BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow "
            "RemoteControl"
        ),
        "StoveBurner": "Kettle Pan Pot",
        "TVStand": "TissueBox",
        "Toaster": "BreadSliced",
        "Toilet": (
            "Candle Cloth DishSponge HandTowel Newspaper PaperTowel SoapBar SoapBottle "
            "SprayBottle TissueBox ToiletPaper ToiletPaperRoll"
        ),
        "ToiletPaperHanger": "ToiletPaper ToiletPaperRoll",
        "TowelHolder": "Towel",
    }
)

#: How many ALFRED trajectories have the class as target (the sampling weights of the generator).
TARGET_COUNTS = {
    ObjectClass.Tomato: 411,
    ObjectClass.Potato: 403,
    ObjectClass.Apple: 400,
    ObjectClass.Lettuce: 280,
    ObjectClass.Mug: 271,
    ObjectClass.Bread: 227,
    ObjectClass.CreditCard: 224,
    ObjectClass.KeyChain: 222,
    ObjectClass.SoapBar: 217,
    ObjectClass.Egg: 188,
    ObjectClass.Cloth: 182,
    ObjectClass.CellPhone: 177,
    ObjectClass.RemoteControl: 177,
    ObjectClass.Cup: 176,
    ObjectClass.ButterKnife: 154,
    ObjectClass.Pencil: 151,
    ObjectClass.Pen: 149,
    ObjectClass.Spoon: 143,
    ObjectClass.DishSponge: 137,
    ObjectClass.ToiletPaper: 136,
    ObjectClass.Plate: 135,
    ObjectClass.Bowl: 131,
    ObjectClass.Book: 127,
    ObjectClass.Candle: 126,
    ObjectClass.SprayBottle: 126,
    ObjectClass.SoapBottle: 123,
    ObjectClass.CD: 118,
    ObjectClass.Fork: 117,
    ObjectClass.Pan: 109,
    ObjectClass.Knife: 103,
    ObjectClass.Watch: 102,
    ObjectClass.AlarmClock: 94,
    ObjectClass.Newspaper: 94,
    ObjectClass.Ladle: 93,
    ObjectClass.HandTowel: 92,
    ObjectClass.Spatula: 90,
    ObjectClass.Pillow: 89,
    ObjectClass.Pot: 87,
    ObjectClass.Statue: 81,
    ObjectClass.Laptop: 74,
    ObjectClass.Box: 71,
    ObjectClass.TissueBox: 70,
    ObjectClass.Kettle: 66,
    ObjectClass.Vase: 65,
    ObjectClass.PepperShaker: 42,
    ObjectClass.TennisRacket: 34,
    ObjectClass.SaltShaker: 34,
    ObjectClass.WineBottle: 34,
    ObjectClass.BasketBall: 30,
    ObjectClass.WateringCan: 27,
    ObjectClass.BaseballBat: 24,
    ObjectClass.Plunger: 24,
    ObjectClass.Glassbottle: 23,
}

#: How many ALFRED trajectories end at the receptacle class.
RECEPTACLE_COUNTS = {
    ObjectClass.CounterTop: 715,
    ObjectClass.DiningTable: 662,
    ObjectClass.SinkBasin: 491,
    ObjectClass.GarbageCan: 450,
    ObjectClass.Fridge: 439,
    ObjectClass.Cabinet: 428,
    ObjectClass.SideTable: 386,
    ObjectClass.Microwave: 319,
    ObjectClass.Drawer: 300,
    ObjectClass.Shelf: 279,
    ObjectClass.Toilet: 252,
    ObjectClass.Desk: 195,
    ObjectClass.ArmChair: 194,
    ObjectClass.CoffeeTable: 189,
    ObjectClass.Dresser: 184,
    ObjectClass.CoffeeMachine: 158,
    ObjectClass.Sofa: 154,
    ObjectClass.BathtubBasin: 141,
    ObjectClass.StoveBurner: 84,
    ObjectClass.Bed: 79,
    ObjectClass.Cart: 53,
    ObjectClass.ToiletPaperHanger: 50,
    ObjectClass.Safe: 42,
    ObjectClass.Ottoman: 42,
}

#: How many ALFRED trajectories use the movable receptacle class.
MOVABLE_COUNTS = {
    ObjectClass.Plate: 176,
    ObjectClass.Bowl: 161,
    ObjectClass.Pan: 159,
    ObjectClass.Mug: 147,
    ObjectClass.Cup: 140,
    ObjectClass.Pot: 137,
    ObjectClass.Box: 135,
}
