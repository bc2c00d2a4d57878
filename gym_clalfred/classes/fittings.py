"""Appliances, plumbing, lamps and what hangs on walls."""

from gym_clalfred.classes.record import ClassRecord

# fmt: off
RECORDS = {
    "CoffeeMachine": ClassRecord(
        size=(0.24, 0.34, 0.3, 0.08), words="coffee maker, coffee machine",
        traits="receptacle inside toggleable landmark moveable", rooms=(30, 0, 0, 0),
        receptacle_count=158, inclination=0.3, thor_box=(0.17, 0.14, 0.17, -0.05, 0.35, False),
    ),
    "Faucet": ClassRecord(
        size=(0.2, 0.28, 0.2, 0.06), words="faucet, tap", traits="toggleable", material="Metal",
        rooms=(30, 0, 0, 28),
    ),
    "Fridge": ClassRecord(
        size=(0.82, 1.8, 0.76, 0.05), words="fridge, refrigerator",
        traits="receptacle openable closed inside landmark cold_source", material="Metal",
        rooms=(30, 0, 0, 0), receptacle_count=439, inclination=0.9,
        thor_box=(0.41, 0.35, 0.4, 0.0, 1.8, True),
    ),
    "Microwave": ClassRecord(
        size=(0.52, 0.32, 0.4, 0.03), words="microwave, microwave oven",
        traits="receptacle openable closed inside toggleable landmark heat_source moveable",
        material="Metal", rooms=(30, 0, 0, 0), receptacle_count=319, inclination=0.2,
        thor_box=(0.32, 0.24, 0.14, 0.0, 0.32, False),
    ),
    "Sink": ClassRecord(
        size=(0.8, 0.9, 0.62, 0.02), words="sink", traits="landmark", material="Ceramic",
        rooms=(30, 0, 0, 30),
    ),
    "SinkBasin": ClassRecord(
        size=(0.56, 0.18, 0.4, 0.02), words="sink, sink basin, basin",
        traits="receptacle inside part", material="Ceramic", rooms=(30, 0, 0, 30),
        receptacle_count=491, inclination=0.5, thor_box=(0.29, 0.2, 0.14, -0.16, -0.02, False),
    ),
    "StoveBurner": ClassRecord(
        size=(0.22, 0.018, 0.22, 0.02), words="stove, stove burner, burner",
        traits="receptacle part top landmark heat_source", material="Metal", rooms=(30, 0, 0, 0),
        receptacle_count=84, inclination=1.6, thor_box=(0.11, 0.11, 0.11, -0.01, 0.01, False),
    ),
    "StoveKnob": ClassRecord(
        size=(0.046, 0.046, 0.03, 0.0), words="stove knob", traits="toggleable part",
        material="Metal", rooms=(30, 0, 0, 0),
    ),
    "Toaster": ClassRecord(
        size=(0.31, 0.2, 0.19, 0.06), words="toaster",
        traits="receptacle toggleable landmark heat_source moveable", material="Metal",
        rooms=(30, 0, 0, 0),
    ),
    "Bathtub": ClassRecord(
        size=(1.6, 0.56, 0.76, 0.05), words="bathtub, tub, bath tub", traits="landmark",
        material="Ceramic", rooms=(0, 0, 0, 21),
    ),
    "BathtubBasin": ClassRecord(
        size=(1.42, 0.44, 0.58, 0.05), words="bathtub, tub, bath tub",
        traits="receptacle inside part", rooms=(0, 0, 0, 20), receptacle_count=141, inclination=0.5,
        thor_box=(0.74, 0.3, 0.3, -0.29, -0.03, False),
    ),
    "HandTowelHolder": ClassRecord(
        size=(0.24, 0.45, 0.09, 0.02), words="hand towel holder, towel holder, hand towel rack",
        traits="receptacle", rooms=(0, 0, 0, 30), inclination=300.0,
        thor_box=(0.12, 0.03, 0.06, -0.25, 0.2, False),
    ),
    "ShowerCurtain": ClassRecord(
        size=(1.6, 2.0, 0.11, 0.05), words="shower curtain", traits="landmark", rooms=(0, 0, 0, 13),
    ),
    "ShowerDoor": ClassRecord(
        size=(0.8, 2.0, 0.05, 0.02), words="shower door", traits="landmark", material="Glass",
        rooms=(0, 0, 0, 17),
    ),
    "ShowerGlass": ClassRecord(
        size=(0.9, 2.0, 0.03, 0.02), words="shower glass", material="Glass", rooms=(0, 0, 0, 13),
    ),
    "ShowerHead": ClassRecord(
        size=(0.18, 0.3, 0.26, 0.05), words="shower head", rooms=(0, 0, 0, 12),
    ),
    "Toilet": ClassRecord(
        size=(0.42, 0.8, 0.68, 0.04), words="toilet", traits="receptacle landmark",
        material="Ceramic", rooms=(0, 0, 0, 30), receptacle_count=252, inclination=1.2,
        thor_box=(0.21, 0.35, 0.33, 0.0, 0.8, True),
    ),
    "ToiletPaperHanger": ClassRecord(
        size=(0.16, 0.16, 0.15, 0.02), words="toilet paper holder, toilet paper hanger",
        traits="receptacle landmark", rooms=(0, 0, 0, 30), receptacle_count=50, inclination=15.0,
        thor_box=(0.08, 0.05, 0.1, -0.1, 0.06, False),
    ),
    "TowelHolder": ClassRecord(
        size=(0.62, 0.66, 0.09, 0.02), words="towel holder, towel rack",
        traits="receptacle landmark", rooms=(0, 0, 0, 30), inclination=30.0,
        thor_box=(0.31, 0.03, 0.06, -0.35, 0.3, False),
    ),
    "Blinds": ClassRecord(
        size=(1.2, 1.2, 0.05, 0.1), words="set of blinds, +blinds", traits="landmark",
        rooms=(5, 1, 27, 0),
    ),
    "Curtains": ClassRecord(
        size=(1.6, 1.9, 0.09, 0.08), words="pair of curtains, +curtains", material="Fabric",
        rooms=(2, 8, 2, 0),
    ),
    "DeskLamp": ClassRecord(
        size=(0.23, 0.46, 0.23, 0.1), words="desk lamp, lamp, table lamp",
        traits="lamp toggleable landmark moveable", rooms=(0, 7, 20, 0),
    ),
    "FloorLamp": ClassRecord(
        size=(0.4, 1.6, 0.4, 0.08), words="floor lamp, lamp, standing lamp, tall lamp",
        traits="lamp toggleable landmark moveable", rooms=(0, 30, 0, 2),
    ),
    "HousePlant": ClassRecord(
        size=(0.42, 0.7, 0.42, 0.15), words="house plant, plant, potted plant",
        traits="landmark fillable moveable", rooms=(10, 30, 7, 1),
    ),
    "Lamp": ClassRecord(
        size=(0.3, 0.52, 0.3, 0.1), words="lamp", rooms=(0, 6, 10, 0),
    ),
    "LightSwitch": ClassRecord(
        size=(0.08, 0.125, 0.022, 0.0), words="light switch", traits="toggleable",
        rooms=(30, 30, 30, 30),
    ),
    "Mirror": ClassRecord(
        size=(0.7, 0.9, 0.04, 0.15), words="mirror", traits="landmark breakable dirtyable",
        material="Glass", rooms=(2, 3, 30, 30),
    ),
    "Painting": ClassRecord(
        size=(0.65, 0.5, 0.04, 0.2), words="painting, picture", traits="landmark",
        rooms=(0, 30, 13, 1),
    ),
    "Poster": ClassRecord(
        size=(0.5, 0.7, 0.012, 0.15), words="poster", rooms=(0, 0, 6, 0),
    ),
    "Television": ClassRecord(
        size=(1.05, 0.68, 0.18, 0.12), words="television, tv, tv set",
        traits="toggleable landmark breakable moveable", material="Glass", rooms=(0, 30, 3, 0),
    ),
    "Window": ClassRecord(
        size=(1.2, 1.2, 0.06, 0.1), words="window", traits="landmark breakable", material="Glass",
        rooms=(26, 28, 30, 19),
    ),
}
