"""The object classes: one record each. Labels are in ``objects``, shapes in the catalog."""

from gym_clalfred.classes.fittings import RECORDS as _FITTINGS
from gym_clalfred.classes.furniture import RECORDS as _FURNITURE
from gym_clalfred.classes.kitchen import RECORDS as _KITCHEN
from gym_clalfred.classes.record import ClassRecord
from gym_clalfred.classes.things import RECORDS as _THINGS

#: By name; where ALFRED uses two classes equally often, the first comes first.
RECORDS: dict[str, ClassRecord] = {**_THINGS, **_KITCHEN, **_FURNITURE, **_FITTINGS}
