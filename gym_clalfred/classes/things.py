"""What people carry about, besides food and kitchenware."""

from gym_clalfred.classes.record import ClassRecord

# fmt: off
RECORDS = {
    "AlarmClock": ClassRecord(
        size=(0.16, 0.11, 0.07, 0.2), words="alarm clock, clock", traits="pickupable",
        material="Plastic", rooms=(0, 0, 30, 0),
        goes_in="Box CoffeeTable CounterTop Desk DiningTable Dresser Plate Shelf SideTable",
        target_count=94, thor_item=((0.234, 0.17, 0.103), (0.001, -0.016, -0.001), 0.0),
    ),
    "BaseballBat": ClassRecord(
        size=(0.07, 0.07, 0.84, 0.05), words="baseball bat, bat", traits="pickupable",
        material="Wood", rooms=(0, 0, 13, 0), copies=(1.0, 0.0, 0.0),
        goes_in="Bed CoffeeTable CounterTop DiningTable SideTable", tips_in="GarbageCan",
        target_count=24, thor_item=((0.24, 0.077, 0.465), (0.04, 0.073, -0.034), 0.0),
    ),
    "BasketBall": ClassRecord(
        size=(0.237, 0.237, 0.237, 0.02), words="basketball, ball", traits="pickupable",
        rooms=(0, 0, 11, 0), copies=(1.0, 0.0, 0.0),
        goes_in=(
            "ArmChair Bed CoffeeTable CounterTop Desk DiningTable Dresser Ottoman SideTable "
            "Sofa"
        ),
        target_count=30, thor_item=((0.234, 0.219, 0.229), (0.01, -0.023, -0.004), 0.0),
    ),
    "Book": ClassRecord(
        size=(0.18, 0.035, 0.245, 0.15), words="book", traits="pickupable", material="Paper",
        rooms=(2, 7, 30, 0),
        goes_in=(
            "ArmChair Bed Box Cabinet CoffeeTable CounterTop Desk DiningTable Drawer "
            "Dresser Ottoman Plate Shelf SideTable Sofa"
        ),
        tips_in="GarbageCan", target_count=127,
        thor_item=((0.215, 0.032, 0.266), (0.001, -0.002, 0.0), 0.0),
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
        thor_item=((0.382, 0.184, 0.38), (0.002, -0.08, -0.1), 0.0),
    ),
    "CD": ClassRecord(
        size=(0.112, 0.006, 0.112, 0.02), words="cd, disc", traits="pickupable", material="Plastic",
        rooms=(0, 0, 30, 0),
        goes_in=(
            "Bowl Box Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Plate Safe Shelf SideTable"
        ),
        target_count=118, thor_item=((0.117, 0.006, 0.118), (0.0, -0.006, 0.0), 0.0),
    ),
    "Candle": ClassRecord(
        size=(0.056, 0.11, 0.056, 0.25), words="candle", traits="pickupable", rooms=(0, 3, 0, 30),
        goes_in=(
            "Bowl Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Plate Shelf SideTable Toilet"
        ),
        tips_in="Drawer", target_count=126,
        thor_item=((0.046, 0.14, 0.041), (0.0, -0.002, 0.0), 0.0),
    ),
    "CellPhone": ClassRecord(
        size=(0.075, 0.011, 0.148, 0.08), words="cell phone, phone, cellphone, mobile phone",
        traits="pickupable breakable", material="Plastic", rooms=(4, 7, 30, 0),
        goes_in=(
            "ArmChair Bed Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        tips_in="Cup Mug Pot", target_count=177,
        thor_item=((0.075, 0.01, 0.156), (0.0, -0.001, 0.0), 0.0),
    ),
    "Cloth": ClassRecord(
        size=(0.2, 0.022, 0.2, 0.12), words="cloth, rag, wash cloth",
        traits="pickupable cleanable dirtyable", material="Fabric", rooms=(0, 0, 5, 30),
        goes_in=(
            "ArmChair BathtubBasin Bowl Box Cabinet Cart CoffeeTable CounterTop Desk "
            "DiningTable Drawer Dresser GarbageCan LaundryHamper Ottoman Plate Shelf "
            "SideTable SinkBasin Sofa Toilet"
        ),
        tips_in="HandTowelHolder TowelHolder", target_count=182,
        thor_item=((0.22, 0.021, 0.178), (0.001, -0.002, 0.0), 0.0),
    ),
    "CreditCard": ClassRecord(
        size=(0.086, 0.004, 0.054, 0.0), words="credit card, card, bank card", traits="pickupable",
        material="Plastic", rooms=(3, 30, 30, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        tips_in="Cup Mug Pot", target_count=224,
        thor_item=((0.083, 0.004, 0.051), (0.0, 0.0, 0.0), 0.0),
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
        tips_in="GarbageCan HandTowelHolder TowelHolder", target_count=92,
        thor_item=((0.098, 0.219, 0.33), (0.0, -0.243, 0.059), 0.0),
    ),
    "KeyChain": ClassRecord(
        size=(0.06, 0.012, 0.115, 0.08), words="set of keys, key chain, +keys", traits="pickupable",
        material="Metal", rooms=(0, 30, 30, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser Mug "
            "Ottoman Plate Safe Shelf SideTable Sofa"
        ),
        tips_in="Cup Mug Pot", target_count=222,
        thor_item=((0.127, 0.011, 0.068), (-0.03, -0.01, 0.008), 0.0),
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
        thor_item=((0.349, 0.026, 0.269), (0.0, 0.001, 0.009), 0.0),
    ),
    "Newspaper": ClassRecord(
        size=(0.22, 0.014, 0.32, 0.08), words="newspaper, paper", traits="pickupable",
        material="Paper", rooms=(0, 18, 0, 0),
        goes_in=(
            "ArmChair Bed Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Ottoman Shelf SideTable Sofa Toilet"
        ),
        tips_in="GarbageCan", target_count=94,
        thor_item=((0.336, 0.014, 0.118), (-0.003, 0.003, -0.004), 0.0),
    ),
    "Pen": ClassRecord(
        size=(0.012, 0.012, 0.16, 0.06), words="pen", traits="pickupable", material="Plastic",
        rooms=(2, 5, 30, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan Mug "
            "Plate Shelf SideTable"
        ),
        tips_in="Cup Mug Pot", target_count=149,
        thor_item=((0.012, 0.012, 0.187), (0.006, -0.013, 0.0), 270.0),
    ),
    "Pencil": ClassRecord(
        size=(0.01, 0.01, 0.175, 0.06), words="pencil", traits="pickupable", material="Wood",
        rooms=(2, 4, 30, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan Mug "
            "Plate Shelf SideTable"
        ),
        tips_in="Cup Mug Pot", target_count=151,
        thor_item=((0.009, 0.009, 0.168), (0.003, -0.011, 0.0), 270.0),
    ),
    "Pillow": ClassRecord(
        size=(0.42, 0.13, 0.3, 0.12), words="pillow, cushion", traits="pickupable",
        material="Fabric", rooms=(0, 30, 30, 0), copies=(0.5, 0.4, 0.1),
        goes_in="ArmChair Bed Ottoman Sofa", favourites={"Bed": 8.0, "Sofa": 4.0}, target_count=89,
        thor_item=((0.4, 0.127, 0.336), (0.003, -0.046, 0.0), 0.0),
    ),
    "Plunger": ClassRecord(
        size=(0.155, 0.45, 0.155, 0.08), words="plunger", traits="pickupable on_floor",
        rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0), goes_in="Cabinet Cart", target_count=24,
        thor_item=((0.152, 0.517, 0.157), (0.0, 0.009, 0.003), 0.0),
    ),
    "RemoteControl": ClassRecord(
        size=(0.054, 0.022, 0.185, 0.1), words="remote control, remote, tv remote",
        traits="pickupable", material="Plastic", rooms=(0, 30, 3, 0),
        goes_in=(
            "ArmChair Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "Ottoman Shelf SideTable Sofa"
        ),
        tips_in="Cup Mug Pot", target_count=177,
        thor_item=((0.059, 0.019, 0.207), (0.0, -0.01, 0.0), 0.0),
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
        thor_item=((0.054, 0.021, 0.09), (0.0, 0.003, 0.0), 0.0),
    ),
    "SoapBottle": ClassRecord(
        size=(0.095, 0.19, 0.075, 0.1), words="soap bottle, bottle of soap, soap dispenser",
        traits="pickupable used_up", rooms=(30, 0, 0, 30),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer GarbageCan Shelf "
            "SideTable Toilet"
        ),
        tips_in="Drawer", target_count=123,
        thor_item=((0.109, 0.217, 0.098), (0.001, 0.003, 0.0), 0.0),
    ),
    "SprayBottle": ClassRecord(
        size=(0.105, 0.24, 0.072, 0.08), words="spray bottle, bottle of spray", traits="pickupable",
        material="Plastic", rooms=(2, 0, 0, 30),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet"
        ),
        tips_in="Drawer", target_count=126,
        thor_item=((0.113, 0.238, 0.033), (-0.002, 0.002, 0.0), 0.0),
    ),
    "Statue": ClassRecord(
        size=(0.18, 0.28, 0.15, 0.12), words="statue, figurine, sculpture",
        traits="pickupable breakable", material="Ceramic", rooms=(4, 29, 4, 0),
        copies=(0.4, 0.4, 0.2),
        goes_in="Box Cart CoffeeTable CounterTop Desk DiningTable Dresser Safe Shelf SideTable",
        tips_in="Drawer", target_count=81,
        thor_item=((0.246, 0.342, 0.19), (-0.011, -0.008, 0.003), 0.0),
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
        thor_item=((0.258, 0.035, 0.482), (0.003, -0.015, 0.034), 0.0),
    ),
    "TissueBox": ClassRecord(
        size=(0.194, 0.1, 0.12, 0.08), words="tissue box, box of tissues",
        traits="pickupable used_up", material="Paper", rooms=(0, 9, 4, 9), copies=(0.5, 0.4, 0.1),
        goes_in=(
            "Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser "
            "GarbageCan Plate Shelf SideTable TVStand Toilet"
        ),
        favourites={"TVStand": 1.0}, target_count=70,
        thor_item=((0.176, 0.14, 0.094), (0.0, -0.002, 0.001), 0.0),
    ),
    "ToiletPaper": ClassRecord(
        size=(0.11, 0.105, 0.11, 0.08),
        words="roll of toilet paper, toilet paper roll, =toilet paper", traits="pickupable used_up",
        material="Paper", rooms=(0, 0, 0, 30), copies=(0.15, 0.45, 0.4),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet ToiletPaperHanger"
        ),
        tips_in="Drawer", target_count=136,
        thor_item=((0.102, 0.11, 0.101), (0.0, 0.003, 0.001), 0.0),
    ),
    "ToiletPaperRoll": ClassRecord(
        size=(0.048, 0.105, 0.048, 0.05),
        goes_in=(
            "Cabinet Cart CoffeeTable CounterTop Desk DiningTable Drawer Dresser GarbageCan "
            "Shelf SideTable Toilet ToiletPaperHanger"
        ),
        tips_in="Drawer",
    ),
    "Towel": ClassRecord(
        size=(0.46, 0.036, 0.6, 0.05), words="towel, bath towel", traits="pickupable",
        material="Fabric", rooms=(0, 0, 0, 30), copies=(1.0, 0.0, 0.0), goes_in="TowelHolder",
        tips_in="GarbageCan HandTowelHolder TowelHolder",
    ),
    "Vase": ClassRecord(
        size=(0.16, 0.25, 0.16, 0.12), words="vase", traits="pickupable breakable",
        material="Ceramic", rooms=(4, 18, 3, 0),
        goes_in=(
            "Box Cabinet Cart CoffeeTable CounterTop Desk DiningTable Dresser Safe Shelf "
            "SideTable"
        ),
        tips_in="Drawer", target_count=65,
        thor_item=((0.188, 0.185, 0.167), (-0.001, -0.023, -0.002), 0.0),
    ),
    "Watch": ClassRecord(
        size=(0.045, 0.014, 0.085, 0.08), words="watch, wrist watch", traits="pickupable",
        material="Metal", rooms=(0, 16, 2, 0),
        goes_in=(
            "Bowl Box CoffeeTable CounterTop Desk DiningTable Drawer Dresser Mug Plate Safe "
            "Shelf SideTable"
        ),
        tips_in="Cup Mug Pot", target_count=102,
        thor_item=((0.082, 0.015, 0.048), (0.0, 0.0, 0.001), 0.0),
    ),
    "WateringCan": ClassRecord(
        size=(0.265, 0.19, 0.13, 0.1), words="watering can", traits="pickupable fillable",
        rooms=(0, 13, 0, 0), copies=(1.0, 0.0, 0.0),
        goes_in="Cabinet CoffeeTable CounterTop Desk DiningTable Drawer Dresser Shelf SideTable",
        tips_in="Drawer", target_count=27,
        thor_item=((0.142, 0.175, 0.275), (-0.005, 0.015, 0.034), 0.0),
    ),
}
