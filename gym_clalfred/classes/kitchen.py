"""Food and kitchenware."""

from gym_clalfred.classes.record import ClassRecord

# fmt: off
RECORDS = {
    "Bowl": ClassRecord(
        size=(0.205, 0.08, 0.205, 0.12), words="bowl",
        traits="pickupable receptacle movable inside coolable cleanable dish breakable fillable",
        material="Ceramic", rooms=(30, 4, 13, 0),
        goes_in=(
            "Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Fridge Microwave Shelf "
            "SideTable SinkBasin"
        ),
        target_count=131, movable_count=161,
        thor_item=((0.202, 0.088, 0.202), (0.0, -0.005, 0.0), 0.0),
    ),
    "ButterKnife": ClassRecord(
        size=(0.022, 0.012, 0.23, 0.08), words="butter knife, table knife, dull knife",
        traits="pickupable knife cleanable dish", material="Metal", rooms=(29, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop Cup DiningTable Drawer Mug Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup Mug Pot", target_count=154,
        thor_item=((0.027, 0.01, 0.266), (0.002, -0.004, -0.004), 270.0),
    ),
    "Cup": ClassRecord(
        size=(0.105, 0.125, 0.105, 0.12), words="cup, glass, drinking glass",
        traits=(
            "pickupable receptacle movable inside heatable coolable cleanable dish "
            "breakable fillable"
        ),
        material="Glass", rooms=(30, 0, 0, 0),
        goes_in=(
            "Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Fridge Microwave Shelf "
            "SideTable SinkBasin"
        ),
        tips_in="Drawer", target_count=176, movable_count=140,
        thor_item=((0.115, 0.145, 0.113), (0.0, 0.002, 0.0), 0.0),
    ),
    "DishSponge": ClassRecord(
        size=(0.085, 0.032, 0.13, 0.08), words="sponge, dish sponge", traits="pickupable cleanable",
        material="Plastic", rooms=(30, 0, 0, 6),
        goes_in=(
            "BathtubBasin Bowl Box Cabinet Cart CoffeeTable CounterTop DiningTable Drawer "
            "GarbageCan Pan Plate Pot Shelf SideTable SinkBasin Toilet"
        ),
        favourites={"SinkBasin": 2.0}, target_count=137,
        thor_item=((0.069, 0.025, 0.136), (0.0, -0.001, 0.0), 0.0),
    ),
    "Fork": ClassRecord(
        size=(0.027, 0.016, 0.2, 0.08), words="fork", traits="pickupable cleanable dish",
        material="Metal", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop Cup DiningTable Drawer Mug Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup Mug Pot", target_count=117,
        thor_item=((0.028, 0.016, 0.233), (-0.021, -0.012, 0.0), 270.0),
    ),
    "Glassbottle": ClassRecord(
        size=(0.11, 0.215, 0.11, 0.06), words="glass bottle, bottle",
        traits="pickupable breakable fillable", material="Glass", rooms=(7, 0, 0, 0),
        goes_in=(
            "Box Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Fridge Microwave "
            "Plate Shelf SideTable SinkBasin"
        ),
        tips_in="Drawer", target_count=23,
        thor_item=((0.113, 0.214, 0.106), (-0.001, 0.013, 0.001), 0.0),
    ),
    "Kettle": ClassRecord(
        size=(0.222, 0.19, 0.17, 0.08), words="kettle, tea kettle",
        traits="pickupable cleanable fillable", material="Metal", rooms=(15, 0, 0, 0),
        copies=(0.5, 0.35, 0.15),
        goes_in=(
            "Cabinet CoffeeTable CounterTop DiningTable Shelf SideTable SinkBasin "
            "StoveBurner"
        ),
        target_count=66, thor_item=((0.226, 0.185, 0.21), (0.001, -0.017, -0.002), 270.0),
    ),
    "Knife": ClassRecord(
        size=(0.036, 0.016, 0.31, 0.06), words="knife, sharp knife, kitchen knife",
        traits="pickupable knife cleanable dish", material="Metal", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Drawer Mug Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup GarbageCan Mug Pot", target_count=103,
        thor_item=((0.031, 0.015, 0.322), (-0.035, -0.027, 0.004), 270.0),
    ),
    "Ladle": ClassRecord(
        size=(0.085, 0.055, 0.285, 0.06), words="ladle, soup spoon",
        traits="pickupable cleanable dish", material="Metal", rooms=(10, 0, 0, 0),
        goes_in=(
            "Bowl Cabinet CoffeeTable CounterTop DiningTable Drawer Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup GarbageCan Mug Pot", target_count=93,
        thor_item=((0.098, 0.037, 0.27), (-0.005, -0.047, 0.0), 90.0),
    ),
    "Mug": ClassRecord(
        size=(0.12, 0.096, 0.088, 0.12), words="mug, coffee mug, coffee cup",
        traits=(
            "pickupable receptacle movable inside heatable coolable cleanable dish "
            "breakable fillable"
        ),
        material="Ceramic", rooms=(30, 0, 16, 0),
        goes_in=(
            "Bowl Box Cabinet Cart CoffeeMachine CoffeeTable CounterTop Desk DiningTable "
            "Dresser Fridge Microwave Plate Shelf SideTable SinkBasin"
        ),
        target_count=271, movable_count=147,
        thor_item=((0.111, 0.1, 0.097), (-0.009, -0.002, 0.0), 0.0),
    ),
    "Pan": ClassRecord(
        size=(0.25, 0.055, 0.42, 0.08), words="pan, frying pan, skillet",
        traits="pickupable receptacle movable inside coolable cleanable dish", material="Metal",
        rooms=(30, 0, 0, 0), copies=(0.65, 0.3, 0.05),
        goes_in=(
            "Cabinet CoffeeTable CounterTop DiningTable Fridge SideTable SinkBasin "
            "StoveBurner"
        ),
        target_count=109, movable_count=159,
        thor_item=((0.277, 0.06, 0.435), (-0.001, -0.004, -0.069), 180.0),
    ),
    "PaperTowel": ClassRecord(
        size=(0.14, 0.02, 0.14, 0.05),
        goes_in=(
            "Bowl Box Cart CoffeeTable CounterTop DiningTable GarbageCan Plate Shelf "
            "SideTable Toilet"
        ),
    ),
    "PaperTowelRoll": ClassRecord(
        size=(0.115, 0.25, 0.115, 0.05), words="roll of paper towels, paper towel roll",
        traits="pickupable used_up", material="Paper", rooms=(10, 0, 0, 4), copies=(1.0, 0.0, 0.0),
        starts_in="CounterTop DiningTable Shelf SideTable Toilet", tips_in="Drawer",
    ),
    "PepperShaker": ClassRecord(
        size=(0.054, 0.105, 0.054, 0.1), words="pepper shaker, shaker of pepper",
        traits="pickupable", rooms=(30, 0, 0, 0),
        goes_in="Cabinet CoffeeTable CounterTop DiningTable Drawer Shelf SideTable",
        tips_in="Drawer", target_count=42,
        thor_item=((0.058, 0.112, 0.051), (0.0, 0.001, 0.001), 0.0),
    ),
    "Plate": ClassRecord(
        size=(0.225, 0.022, 0.225, 0.1), words="plate, dish",
        traits="pickupable receptacle movable heatable coolable cleanable dish breakable",
        material="Ceramic", rooms=(30, 10, 0, 0),
        goes_in=(
            "Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Fridge Microwave Shelf "
            "SideTable SinkBasin"
        ),
        target_count=135, movable_count=176,
        thor_item=((0.251, 0.022, 0.244), (0.0, -0.015, 0.0), 0.0),
    ),
    "Pot": ClassRecord(
        size=(0.33, 0.135, 0.225, 0.1), words="pot, cooking pot",
        traits="pickupable receptacle movable inside coolable cleanable dish fillable",
        material="Metal", rooms=(30, 0, 0, 0), copies=(0.55, 0.35, 0.1),
        goes_in=(
            "Cabinet CoffeeTable CounterTop DiningTable Fridge Shelf SideTable SinkBasin "
            "StoveBurner"
        ),
        target_count=87, movable_count=137,
        thor_item=((0.317, 0.157, 0.306), (-0.001, 0.006, -0.002), 0.0),
    ),
    "SaltShaker": ClassRecord(
        size=(0.054, 0.105, 0.054, 0.1), words="salt shaker, shaker of salt", traits="pickupable",
        rooms=(30, 0, 0, 0),
        goes_in="Cabinet CoffeeTable CounterTop DiningTable Drawer Shelf SideTable",
        tips_in="Drawer", target_count=34,
        thor_item=((0.058, 0.111, 0.052), (-0.001, -0.002, 0.001), 0.0),
    ),
    "Spatula": ClassRecord(
        size=(0.075, 0.03, 0.3, 0.06), words="spatula, turner", traits="pickupable cleanable dish",
        material="Metal", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Drawer Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup GarbageCan Mug Pot", target_count=90,
        thor_item=((0.064, 0.013, 0.288), (-0.071, -0.001, 0.0), 90.0),
    ),
    "Spoon": ClassRecord(
        size=(0.04, 0.018, 0.185, 0.08), words="spoon", traits="pickupable cleanable dish",
        material="Metal", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop Cup DiningTable Drawer Mug Pan Plate Pot SideTable "
            "SinkBasin"
        ),
        tips_in="Cup Mug Pot", target_count=143,
        thor_item=((0.037, 0.015, 0.2), (-0.015, 0.0, 0.0), 270.0),
    ),
    "WineBottle": ClassRecord(
        size=(0.09, 0.31, 0.09, 0.05), words="wine bottle, bottle of wine",
        traits="pickupable coolable breakable fillable", material="Glass", rooms=(10, 0, 0, 0),
        goes_in=(
            "Cabinet CoffeeTable CounterTop Desk DiningTable Dresser Fridge GarbageCan "
            "Shelf SideTable"
        ),
        tips_in="Drawer", target_count=34,
        thor_item=((0.098, 0.323, 0.088), (0.0, 0.002, 0.0), 0.0),
    ),
    "Apple": ClassRecord(
        size=(0.099, 0.09, 0.099, 0.15), words="apple",
        traits="pickupable heatable coolable cleanable", material="Food", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
        target_count=400, thor_item=((0.113, 0.118, 0.102), (0.0, -0.059, 0.001), 0.0),
    ),
    "AppleSliced": ClassRecord(
        size=(0.085, 0.045, 0.05, 0.08), traits="pickupable heatable coolable cleanable",
        material="Food",
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
    ),
    "Bread": ClassRecord(
        size=(0.12, 0.11, 0.23, 0.15), words="loaf of bread, =bread",
        traits="pickupable heatable coolable", material="Food", rooms=(30, 0, 0, 0),
        copies=(0.5, 0.4, 0.1),
        goes_in="CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave SideTable",
        tips_in="GarbageCan", target_count=227,
        thor_item=((0.169, 0.136, 0.293), (0.0, -0.087, 0.001), 0.0),
    ),
    "BreadSliced": ClassRecord(
        size=(0.112, 0.02, 0.105, 0.05), traits="pickupable heatable coolable cookable",
        material="Food",
        goes_in=(
            "CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave SideTable "
            "Toaster"
        ),
        tips_in="Toaster",
    ),
    "Egg": ClassRecord(
        size=(0.05, 0.05, 0.064, 0.1), words="egg",
        traits="pickupable heatable coolable cleanable breakable", material="Food",
        rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
        favourites={"Fridge": 2.0}, target_count=188,
        thor_item=((0.069, 0.073, 0.059), (0.0, -0.044, 0.0), 0.0),
    ),
    "EggCracked": ClassRecord(
        size=(0.11, 0.022, 0.11, 0.08), words="cracked egg, broken egg", traits="cookable",
        material="Food",
    ),
    "Lettuce": ClassRecord(
        size=(0.195, 0.15, 0.195, 0.12), words="head of lettuce, =lettuce",
        traits="pickupable coolable cleanable", material="Food", rooms=(30, 0, 0, 0),
        copies=(0.4, 0.4, 0.2),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Pan Plate Pot "
            "SideTable SinkBasin"
        ),
        favourites={"Fridge": 2.0}, target_count=280,
        thor_item=((0.148, 0.156, 0.226), (0.002, -0.077, -0.004), 0.0),
    ),
    "LettuceSliced": ClassRecord(
        size=(0.13, 0.03, 0.11, 0.08), traits="pickupable coolable cleanable", material="Food",
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Pan Plate Pot "
            "SideTable SinkBasin"
        ),
    ),
    "Potato": ClassRecord(
        size=(0.08, 0.064, 0.105, 0.15), words="potato",
        traits="pickupable heatable coolable cleanable cookable", material="Food",
        rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
        target_count=403, thor_item=((0.085, 0.072, 0.118), (0.0, -0.036, 0.001), 0.0),
    ),
    "PotatoSliced": ClassRecord(
        size=(0.072, 0.018, 0.06, 0.08), traits="pickupable heatable coolable cleanable cookable",
        material="Food",
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
    ),
    "Tomato": ClassRecord(
        size=(0.11, 0.09, 0.11, 0.12), words="tomato",
        traits="pickupable heatable coolable cleanable", material="Food", rooms=(30, 0, 0, 0),
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
        target_count=411, thor_item=((0.133, 0.113, 0.124), (0.001, -0.067, 0.0), 0.0),
    ),
    "TomatoSliced": ClassRecord(
        size=(0.09, 0.022, 0.09, 0.08), traits="pickupable heatable coolable cleanable",
        material="Food",
        goes_in=(
            "Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Microwave Pan Plate "
            "Pot SideTable SinkBasin"
        ),
    ),
}
