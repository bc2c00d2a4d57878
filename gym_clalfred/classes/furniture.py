"""Furniture."""

from gym_clalfred.classes.record import ClassRecord

# fmt: off
RECORDS = {
    "Cabinet": ClassRecord(
        size=(0.6, 0.7, 0.48, 0.05), words="cabinet, cupboard",
        traits="receptacle openable closed inside", material="Wood", rooms=(30, 4, 5, 15),
        receptacle_count=428, inclination=0.3, thor_box=(0.22, 0.36, 0.0, -0.31, 0.31, False),
    ),
    "Cart": ClassRecord(
        size=(0.52, 0.82, 0.4, 0.05), words="cart, metal rack", traits="receptacle top moveable",
        rooms=(0, 0, 0, 2), receptacle_count=53, inclination=2.0,
        thor_box=(0.35, 0.25, 0.25, 0.0, 0.8, True),
    ),
    "Drawer": ClassRecord(
        size=(0.45, 0.18, 0.45, 0.05), words="drawer",
        traits="receptacle openable closed inside top", material="Wood", rooms=(28, 23, 29, 15),
        receptacle_count=300, inclination=0.35, thor_box=(0.24, 0.22, 0.21, -0.08, 0.09, False),
    ),
    "Dresser": ClassRecord(
        size=(1.05, 0.86, 0.48, 0.08), words="dresser, chest of drawers",
        traits="receptacle top landmark", material="Wood", rooms=(0, 10, 15, 2),
        receptacle_count=184, inclination=2.5, thor_box=(0.62, 0.32, 0.2, 0.0, 0.78, True),
    ),
    "GarbageCan": ClassRecord(
        size=(0.33, 0.43, 0.33, 0.05), words="trash can, garbage can, bin, waste basket, trash bin",
        traits="receptacle inside top landmark moveable", rooms=(30, 30, 30, 30),
        receptacle_count=450, inclination=0.2, thor_box=(0.17, 0.17, 0.14, 0.0, 0.4, True),
    ),
    "LaundryHamper": ClassRecord(
        size=(0.45, 0.6, 0.4, 0.06), words="laundry hamper, hamper, laundry basket",
        traits="receptacle inside top landmark moveable", rooms=(0, 0, 8, 0), inclination=0.5,
        thor_box=(0.22, 0.2, 0.2, 0.0, 0.6, True),
    ),
    "LaundryHamperLid": ClassRecord(
        size=(0.46, 0.04, 0.41, 0.06), rooms=(0, 0, 8, 0),
    ),
    "Safe": ClassRecord(
        size=(0.45, 0.46, 0.42, 0.05), words="safe",
        traits="receptacle openable closed inside landmark", material="Metal", rooms=(1, 2, 5, 0),
        receptacle_count=42, inclination=0.4, thor_box=(0.25, 0.26, 0.26, 0.0, 0.43, True),
    ),
    "Shelf": ClassRecord(
        size=(0.9, 0.03, 0.28, 0.04), words="shelf", traits="receptacle", material="Wood",
        rooms=(5, 12, 20, 8), receptacle_count=279, inclination=2.0,
        thor_box=(0.38, 0.14, 0.12, -0.03, 0.0, False),
    ),
    "TVStand": ClassRecord(
        size=(1.45, 0.5, 0.42, 0.08), words="tv stand, television stand",
        traits="receptacle top landmark moveable", material="Wood", rooms=(0, 12, 0, 0),
        inclination=1.5, thor_box=(0.72, 0.21, 0.21, 0.0, 0.5, True),
    ),
    "CoffeeTable": ClassRecord(
        size=(1.05, 0.43, 0.62, 0.08), words="coffee table, low table",
        traits="receptacle top landmark", material="Wood", rooms=(0, 25, 1, 0),
        receptacle_count=189, inclination=3.0, thor_box=(0.54, 0.42, 0.45, 0.0, 0.44, True),
    ),
    "CounterTop": ClassRecord(
        size=(1.2, 0.9, 0.62, 0.02), words="counter, countertop, counter top",
        traits="receptacle top", rooms=(30, 0, 1, 25), receptacle_count=715, inclination=3.0,
        thor_box=(0.7, 0.33, 0.31, -0.1, -0.05, False),
    ),
    "Desk": ClassRecord(
        size=(1.25, 0.76, 0.62, 0.06), words="desk, writing desk",
        traits="receptacle top landmark moveable", material="Wood", rooms=(0, 1, 19, 0),
        receptacle_count=195, inclination=3.0, thor_box=(0.72, 0.39, 0.42, 0.0, 0.73, True),
    ),
    "DiningTable": ClassRecord(
        size=(1.5, 0.76, 0.9, 0.06), words="table, dining table, big table",
        traits="receptacle top landmark moveable", material="Wood", rooms=(16, 14, 5, 0),
        receptacle_count=662, inclination=3.0, thor_box=(0.7, 0.48, 0.48, 0.0, 0.74, True),
    ),
    "SideTable": ClassRecord(
        size=(0.52, 0.62, 0.46, 0.04), words="side table, end table, small table",
        traits="receptacle top landmark moveable", material="Wood", rooms=(3, 24, 19, 2),
        receptacle_count=386, inclination=3.0, thor_box=(0.31, 0.26, 0.25, 0.0, 0.62, True),
    ),
    "ArmChair": ClassRecord(
        size=(0.85, 0.9, 0.82, 0.06), words="armchair, arm chair, chair",
        traits="receptacle landmark moveable", material="Fabric", rooms=(0, 27, 6, 0),
        receptacle_count=194, inclination=0.8, thor_box=(0.43, 0.46, 0.37, 0.0, 0.75, True),
    ),
    "Bed": ClassRecord(
        size=(1.5, 1.0, 2.05, 0.06), words="bed", traits="receptacle top landmark dirtyable",
        material="Fabric", rooms=(0, 0, 30, 0), receptacle_count=79, inclination=1.0,
        thor_box=(0.85, 1.0, 0.9, 0.0, 0.8, True),
    ),
    "Chair": ClassRecord(
        size=(0.46, 0.9, 0.49, 0.06), words="chair", traits="moveable", rooms=(25, 20, 22, 0),
    ),
    "Ottoman": ClassRecord(
        size=(0.72, 0.43, 0.56, 0.08), words="ottoman, footrest", traits="receptacle top moveable",
        material="Fabric", rooms=(0, 4, 0, 0), receptacle_count=42, inclination=0.8,
        thor_box=(0.41, 0.26, 0.26, 0.0, 0.41, True),
    ),
    "Sofa": ClassRecord(
        size=(2.0, 0.85, 0.9, 0.06), words="sofa, couch", traits="receptacle landmark moveable",
        material="Fabric", rooms=(0, 30, 0, 0), receptacle_count=154, inclination=1.0,
        thor_box=(1.0, 0.5, 0.4, 0.0, 0.81, True),
    ),
}
