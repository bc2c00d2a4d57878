"""What people carry about, besides food and kitchenware."""

from gym_clalfred.classes.record import ClassRecord

# fmt: off
RECORDS = {
    "AlarmClock": ClassRecord(
        size=(0.16, 0.11, 0.07, 0.2), words="alarm clock, clock", traits="pickupable",
        material="Plastic", rooms=(0, 0, 30, 0),
        goes_in="Box CoffeeTable CounterTop Desk DiningTable Dresser Plate Shelf SideTable",
        target_count=94,
    ),
    "BaseballBat": ClassRecord(
        size=(0.07, 0.07, 0.84, 0.05), words="baseball bat, bat", traits="pickupable",
        material="Wood", rooms=(0, 0, 13, 0), copies=(1.0, 0.0, 0.0),
        goes_in="Bed CoffeeTable CounterTop DiningTable SideTable", target_count=24,
    ),
    "BasketBall": ClassRecord(
        size=(0.237, 0.237, 0.237, 0.02), words="basketball, ball", traits="pickupable",
        rooms=(0, 0, 11, 0), copies=(1.0, 0.0, 0.0),
        goes_in=(
            "ArmChair Bed CoffeeTable CounterTop Desk DiningTable Dresser Ottoman SideTable "
            "Sofa"
        ),
        target_count=30,
    ),
    "Book": ClassRecord(
        size=(0.18, 0.035, 0.245, 0.15), words="book", traits="pickupable", material="Paper",
        rooms=(2, 7, 30, 0),
        goes_in=(
            "ArmChair Bed Box Cabinet CoffeeTable CounterTop Desk DiningTable Drawer "
            "Dresser Ottoman Plate Shelf SideTable Sofa"
        ),
        target_count=127,
    ),
    "Boots": ClassRecord(
        size=(0.24, 0.26, 0.28, 0.05), words="pair of boots, +boots", traits="pickupable on_floor",
        rooms=(0, 5, 3, 0), copies=(1.0, 0.0, 0.0),
    ),
    "Box": ClassRecord(
        size=(0.46, 0.24, 0.33, 0.15), words="box, cardboard box",
        traits="pickupable receptacle movable inside", material="Paper", rooms=(0, 30, 12, 0),
        copies=(0.75, 0.25, 0.0),
        goes_in=(
            "ArmChair Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Ottoman Shelf "
            "SideTable Sofa"
        ),
        target_count=71, movable_count=135,
    ),
    "CD": ClassRecord(
        size=(0.112, 0.006, 0.112, 0.02), words="cd, disc", traits="pickupable", material="Plastic",
        rooms=(0, 0, 30, 0),
        goes_in=(
            "Bowl Box Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Plate Safe Shelf SideTable"
        ),
        target_count=118,
    ),
    "Candle": ClassRecord(
        size=(0.056, 0.11, 0.056, 0.25), words="candle", traits="pickupable", rooms=(0, 3, 0, 30),
        goes_in=(
            "Bowl Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Plate Shelf SideTable Toilet"
        ),
        target_count=126,
    ),
    "CellPhone": ClassRecord(
        size=(0.075, 0.011, 0.148, 0.08), words="cell phone, phone, cellphone, mobile phone",
        traits="pickupable breakable", material="Plastic", rooms=(4, 7, 30, 0),
        goes_in=(
            "ArmChair Bed Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        target_count=177,
    ),
    "Cloth": ClassRecord(
        size=(0.2, 0.022, 0.2, 0.12), words="cloth, rag, wash cloth",
        traits="pickupable cleanable dirtyable", material="Fabric", rooms=(0, 0, 5, 30),
        goes_in=(
            "ArmChair BathtubBasin Bowl Box Cabinet Cart CoffeeTable CounterTop Desk "
            "DiningTable Drawer Dresser GarbageCan LaundryHamper Ottoman Plate Shelf "
            "SideTable SinkBasin Sofa Toilet"
        ),
        target_count=182,
    ),
    "CreditCard": ClassRecord(
        size=(0.086, 0.004, 0.054, 0.0), words="credit card, card, bank card", traits="pickupable",
        material="Plastic", rooms=(3, 30, 30, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        target_count=224,
    ),
    "Footstool": ClassRecord(
        size=(0.4, 0.3, 0.4, 0.08), words="footstool, stool", traits="pickupable on_floor moveable",
        rooms=(0, 0, 1, 1), copies=(1.0, 0.0, 0.0),
    ),
    "HandTowel": ClassRecord(
        size=(0.16, 0.03, 0.35, 0.06), words="hand towel, towel, small towel", traits="pickupable",
        material="Fabric", rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0),
        goes_in=(
            "BathtubBasin Cabinet Cart CoffeeTable CounterTop DiningTable Drawer GarbageCan "
            "HandTowelHolder Shelf SideTable SinkBasin Toilet"
        ),
        target_count=92,
    ),
    "KeyChain": ClassRecord(
        size=(0.06, 0.012, 0.115, 0.08), words="set of keys, key chain, +keys", traits="pickupable",
        material="Metal", rooms=(0, 30, 30, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser Mug "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        target_count=222,
    ),
    "Laptop": ClassRecord(
        size=(0.36, 0.024, 0.25, 0.1), words="laptop, computer, laptop computer",
        traits="pickupable openable toggleable breakable", material="Metal", rooms=(0, 30, 30, 0),
        copies=(0.6, 0.35, 0.05),
        goes_in=(
            "ArmChair Bed CoffeeTable CounterTop Desk DiningTable Dresser Ottoman SideTable "
            "Sofa"
        ),
        favourites={"Desk": 2.0}, target_count=74,
    ),
    "Newspaper": ClassRecord(
        size=(0.22, 0.014, 0.32, 0.08), words="newspaper, paper", traits="pickupable",
        material="Paper", rooms=(0, 18, 0, 0),
        goes_in=(
            "ArmChair Bed Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Ottoman Shelf SideTable Sofa Toilet"
        ),
        target_count=94,
    ),
    "Pen": ClassRecord(
        size=(0.012, 0.012, 0.16, 0.06), words="pen", traits="pickupable", material="Plastic",
        rooms=(2, 5, 30, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan Mug "
            "Plate Shelf SideTable"
        ),
        target_count=149,
    ),
    "Pencil": ClassRecord(
        size=(0.01, 0.01, 0.175, 0.06), words="pencil", traits="pickupable", material="Wood",
        rooms=(2, 4, 30, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan Mug "
            "Plate Shelf SideTable"
        ),
        target_count=151,
    ),
    "Pillow": ClassRecord(
        size=(0.42, 0.13, 0.3, 0.12), words="pillow, cushion", traits="pickupable",
        material="Fabric", rooms=(0, 30, 30, 0), copies=(0.5, 0.4, 0.1),
        goes_in="ArmChair Bed Ottoman Sofa", favourites={"Bed": 8.0, "Sofa": 4.0}, target_count=89,
    ),
    "Plunger": ClassRecord(
        size=(0.155, 0.45, 0.155, 0.08), words="plunger", traits="pickupable on_floor",
        rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0), goes_in="Cabinet Cart", target_count=24,
    ),
    "RemoteControl": ClassRecord(
        size=(0.054, 0.022, 0.185, 0.1), words="remote control, remote, tv remote",
        traits="pickupable", material="Plastic", rooms=(0, 30, 3, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Shelf SideTable Sofa"
        ),
        target_count=177,
    ),
    "ScrubBrush": ClassRecord(
        size=(0.095, 0.38, 0.095, 0.06), words="scrub brush, toilet brush",
        traits="pickupable on_floor", rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0),
    ),
    "SoapBar": ClassRecord(
        size=(0.06, 0.028, 0.086, 0.12), words="bar of soap, soap bar, =soap",
        traits="pickupable cleanable", rooms=(0, 0, 0, 30),
        goes_in=(
            "BathtubBasin Cabinet Cart CoffeeTable CounterTop DiningTable Drawer GarbageCan "
            "Shelf SideTable SinkBasin Toilet"
        ),
        favourites={"SinkBasin": 2.0}, target_count=217,
    ),
    "SoapBottle": ClassRecord(
        size=(0.095, 0.19, 0.075, 0.1), words="soap bottle, bottle of soap, soap dispenser",
        traits="pickupable used_up", rooms=(30, 0, 0, 30),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer GarbageCan Shelf "
            "SideTable Toilet"
        ),
        target_count=123,
    ),
    "SprayBottle": ClassRecord(
        size=(0.105, 0.24, 0.072, 0.08), words="spray bottle, bottle of spray", traits="pickupable",
        material="Plastic", rooms=(2, 0, 0, 30),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet"
        ),
        target_count=126,
    ),
    "Statue": ClassRecord(
        size=(0.18, 0.28, 0.15, 0.12), words="statue, figurine, sculpture",
        traits="pickupable breakable", material="Ceramic", rooms=(4, 29, 4, 0),
        copies=(0.4, 0.4, 0.2),
        goes_in="Box Cart CoffeeTable CounterTop Desk DiningTable Dresser Safe Shelf SideTable",
        target_count=81,
    ),
    "TeddyBear": ClassRecord(
        size=(0.28, 0.34, 0.22, 0.1), words="teddy bear, stuffed bear", traits="pickupable",
        material="Fabric", rooms=(0, 0, 10, 0), copies=(1.0, 0.0, 0.0),
        starts_in="ArmChair Bed Sofa",
    ),
    "TennisRacket": ClassRecord(
        size=(0.255, 0.035, 0.66, 0.04), words="tennis racket, racket, racquet",
        traits="pickupable", rooms=(0, 0, 10, 0), copies=(1.0, 0.0, 0.0),
        goes_in="Bed CoffeeTable CounterTop Desk DiningTable Dresser SideTable", target_count=34,
    ),
    "TissueBox": ClassRecord(
        size=(0.194, 0.1, 0.12, 0.08), words="tissue box, box of tissues",
        traits="pickupable used_up", material="Paper", rooms=(0, 9, 4, 9), copies=(0.5, 0.4, 0.1),
        goes_in=(
            "Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Plate Shelf SideTable TVStand Toilet"
        ),
        favourites={"TVStand": 1.0}, target_count=70,
    ),
    "ToiletPaper": ClassRecord(
        size=(0.11, 0.105, 0.11, 0.08),
        words="roll of toilet paper, toilet paper roll, =toilet paper", traits="pickupable used_up",
        material="Paper", rooms=(0, 0, 0, 30), copies=(0.15, 0.45, 0.4),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet ToiletPaperHanger"
        ),
        target_count=136,
    ),
    "ToiletPaperRoll": ClassRecord(
        size=(0.048, 0.105, 0.048, 0.05),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet ToiletPaperHanger"
        ),
    ),
    "Towel": ClassRecord(
        size=(0.46, 0.036, 0.6, 0.05), words="towel, bath towel", traits="pickupable",
        material="Fabric", rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0), goes_in="TowelHolder",
    ),
    "Vase": ClassRecord(
        size=(0.16, 0.25, 0.16, 0.12), words="vase", traits="pickupable breakable",
        material="Ceramic", rooms=(4, 18, 3, 0),
        goes_in=(
            "Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Dresser Safe Shelf "
            "SideTable"
        ),
        target_count=65,
    ),
    "Watch": ClassRecord(
        size=(0.045, 0.014, 0.085, 0.08), words="watch, wrist watch", traits="pickupable",
        material="Metal", rooms=(0, 16, 2, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser Mug Plate Safe "
            "Shelf SideTable"
        ),
        target_count=102,
    ),
    "WateringCan": ClassRecord(
        size=(0.265, 0.19, 0.13, 0.1), words="watering can", traits="pickupable fillable",
        rooms=(0, 13, 0, 0), copies=(1.0, 0.0, 0.0),
        goes_in="Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser Shelf SideTable",
        target_count=27,
    ),
}
