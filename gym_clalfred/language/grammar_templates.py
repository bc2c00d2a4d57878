"""Sentence patterns of the grammar; goal sentences are with the task types.

A pattern holds slots in braces. A slot is filled from the facts of the step (``{place}``) or from
``PHRASES`` (``{go}``). Patterns are chosen only where their slots can be filled truly.
"""

from __future__ import annotations

from gym_clalfred.language.grammar_facts import Bearing, Level, Turn

#: Interchangeable words; the choice is made anew at every use.
PHRASES: dict[str, tuple[str, ...]] = {
    "go": ("go", "walk", "head", "move", "go over", "walk over", "head over", "make your way"),
    "carry": ("carry", "bring", "take"),
    "walk": ("walk", "go", "move", "head"),
    "forward": ("forward", "straight", "ahead", "straight ahead"),
    "turn": ("turn",),
    "then": ("then", "and then", "and"),
    "pick_up": ("pick up", "take", "grab", "get", "pick up"),
    "put": ("put", "place", "set", "put", "place"),
    "look_at": ("look at", "examine", "inspect", "view", "take a look at"),
    "under": (
        "under the light of",
        "by the light of",
        "in the light of",
        "with the light of",
        "using the light of",
    ),
    "switch_on": ("turn on", "switch on"),
    "switch_it_on": ("turn it on", "switch it on"),
    "face": ("to face", "so you are facing", "toward"),
    "heated": ("heated", "hot", "warm", "warmed", "microwaved"),
    "cooled": ("chilled", "cold", "cooled"),
    "cleaned": ("clean", "cleaned", "washed", "rinsed"),
    "heat": ("heat", "warm", "microwave", "heat up", "warm up"),
    "cool": ("cool", "chill", "cool down"),
    "clean": ("clean", "wash", "rinse", "rinse off", "wash off"),
    "heat_it": ("heat it", "warm it", "microwave it", "heat it up", "warm it up"),
    "cool_it": ("cool it", "chill it", "cool it down"),
    "clean_it": ("clean it", "wash it", "rinse it", "rinse it off", "wash it off"),
    "pick_it_up": ("pick it up", "take it", "grab it"),
    "water": ("the water", "the faucet", "the tap"),
    "wait": ("wait a moment", "wait a few seconds", "wait"),
    "slice": ("slice", "cut", "cut up", "slice up"),
    "to_slices": ("into slices", "into pieces", ""),
    "other": ("other", "second"),
}

#: Walks: ``{to}`` the destination, ``{legs}`` the whole way, ``{first}`` its first turn.
GOTO_DIRECT = (
    "{go} to {to}",
    "{go} to {to}",
    "{walk} toward {to}",
    "approach {to}",
)
GOTO_FAR = (
    "{walk} across the room to {to}",
    "cross the room to {to}",
    "{go} to {to} on the other side of the room",
)
GOTO_CARRYING = (
    "{carry} {held} to {to}",
    "{carry} {held} over to {to}",
    "{walk} to {to} with {held}",
)
GOTO_BACK = (
    "{go} back to {to}",
    "return to {to}",
    "{walk} back to {to}",
)
GOTO_FIRST_TURN = (
    "{first} and {walk} to {to}",
    "{first}, {then} {go} to {to}",
    "{first} and approach {to}",
    "{first} {then} {walk} toward {to}",
)
GOTO_LAST_TURN = (
    "{walk} {forward} {then} {last} {face} {to}",
    "{walk} to {to} and {last} {face} it",
)
GOTO_BOTH_TURNS = (
    "{first}, {walk} {forward}, {then} {last} {face} {to}",
    "{first} and {walk} {forward}, {then} {last} {face} {to}",
)
GOTO_ALL_FACING = ("{legs} {face} {to}",)
GOTO_ALL_AHEAD = (
    "{legs} to {to}",
    "{legs} until you reach {to}",
    "{legs} up to {to}",
)
GOTO_ADJUST = (
    "move so that you are facing {to}",
    "adjust your position to face {to}",
    "change your position in front of {to}",
    "move to a better spot in front of {to}",
)
GOTO_ALONG = (
    "{walk} until you are facing {to}",
    "make your way over to {to}",
    "move over until you are in front of {to}",
    "{walk} until you stand in front of {to}",
)
GOTO_TURN_ALONG = (
    "{first} and {walk} until you are facing {to}",
    "{first}, {then} move over until you are in front of {to}",
)
GOTO_STEP_BACK = (
    "step back from {to}",
    "back up from {to}",
    "step back to face {to}",
    "move back a little from {to}",
)
GOTO_SIDESTEP = (
    "{sidestep} {face} {to}",
    "{sidestep} to {to}",
)
GOTO_TURN_ONLY = (
    "{first} {face} {to}",
    "{first} and face {to}",
    "{first} to look at {to}",
)
GOTO_LOOK_ONLY = {
    True: ("look down at {to}", "tilt your head down toward {to}", "look downward at {to}"),
    False: ("look up at {to}", "raise your head to look at {to}", "look upward at {to}"),
}
GOTO_TILT = ("{walked} and {tilt}", "{walked}, {then} {tilt}")

TURNS: dict[Turn, tuple[str, ...]] = {
    Turn.NONE: ("",),
    Turn.LEFT: ("turn left", "turn to the left", "turn to your left", "make a left", "hang a left"),
    Turn.RIGHT: (
        "turn right",
        "turn to the right",
        "turn to your right",
        "make a right",
        "hang a right",
    ),
    Turn.AROUND: ("turn around", "turn all the way around", "turn around completely"),
}
SIDESTEPS: dict[Turn, tuple[str, ...]] = {
    Turn.LEFT: ("take a step to the left", "move a little to the left", "step to your left"),
    Turn.RIGHT: ("take a step to the right", "move a little to the right", "step to your right"),
}
#: The same for a few steps more.
SHIFTS: dict[Turn, tuple[str, ...]] = {
    Turn.LEFT: ("move over to the left", "walk a few steps to the left", "go left a few steps"),
    Turn.RIGHT: ("move over to the right", "walk a few steps to the right", "go right a few steps"),
}
#: Ways to say a number of moves: up to one, up to two, up to five, up to eleven, more.
MOVES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("take a step {forward}", "step forward", "move {forward} a little")),
    (2, ("take a couple of steps {forward}", "take two steps {forward}", "step forward")),
    (5, ("take a few steps {forward}", "{walk} {forward} a few steps", "{walk} {forward} a bit")),
    (11, ("{walk} {forward}", "{walk} {forward} for a while", "continue {forward}")),
    (10_000, ("{walk} {forward} a long way", "{walk} {forward}", "{walk} {forward} for a while")),
)
TILTS = {
    True: ("look down", "tilt your head down", "look downward"),
    False: ("look up", "raise your head", "look upward"),
}

PICKUP = (
    "{pick_up} {target}",
    "{pick_up} {target} {from}",
    "{pick_up} {target} that {is} {on}",
    "{pick_up} {target} {from}",
    "remove {target} {from}",
)
PICKUP_OPEN = (
    "open {place}, {pick_up} {target} and close {place_again}",
    "open {place} and {pick_up} {target}, {then} close {place_again}",
    "{pick_up} {target} {from}",
    "open {place} to {pick_up} {target} and shut {place_again}",
    "take {target} out of {place} and close {place_again}",
)
PICKUP_WITHIN = (
    "open {container}, {pick_up} {target} {from} and close {container_again}",
    "open {container} and {pick_up} {target} {from}, {then} close {container_again}",
    "open {container}, {pick_up} {target} and close {container_again}",
)
PUT = (
    "{put} {target} {in}",
    "{put} {target} {in}",
    "{put} {target} down {in}",
    "leave {target} {on}",
)
PUT_OPEN = (
    "open {place}, {put} {target} inside and close {place_again}",
    "{put} {target} {in}",
    "open {place} and {put} {target} inside, {then} close {place_again}",
    "{put} {target} {in} and shut {place_again}",
    "open {place}, {put} {target} in and close the {door}",
)
PUT_WITHIN = (
    "open {container}, {put} {target} {in} and close {container_again}",
    "open {container} and {put} {target} {in}, {then} close {container_again}",
    "{put} {target} {in} inside {container} and shut {container_again}",
)
SLICE = (
    "{slice} {target} {on} {to_slices}",
    "use the knife to {slice} {target}",
    "{slice} {target} with the knife",
    "{slice} {target} {to_slices}",
    "use {held} to {slice} {target} {on}",
)
SLICE_OPEN = (
    "open {place}, {slice} {target} inside and close {place_again}",
    "open {place} and {slice} {target} {to_slices}, {then} close {place_again}",
    "{slice} {target} {on} with the knife",
)
SLICE_WITHIN = (
    "open {container}, {slice} {target} {on} and close {container_again}",
    "open {container} and {slice} {target} {to_slices}, {then} close {container_again}",
)
CLEAN = (
    "{put} {target} {in}, turn on {water}, turn it off and {pick_up} {target_again} again",
    "{clean} {target} {in}",
    "{clean} {target} {in} and {pick_it_up} again",
    "{put} {target} {in}, {clean_it} and take it back out",
    "{put} {target} {in}, turn {water} on and off and take {target_again} out",
    "{clean} {target} with water {in}",
)
HEAT = (
    "{heat} {target} {in}",
    "{put} {target} {in}, turn it on, {then} take {target_again} out and close the door",
    "{heat} {target} {in}, take it out and close the door",
    "open {place}, {put} {target} inside, close it, cook it, {then} take it out and close the door",
    "{put} {target} {in} to {heat_it}, then take it out again",
    "cook {target} {in} and take it out",
)
COOL = (
    "{cool} {target} {in}",
    "{put} {target} {in}, close the door, {wait}, {then} take {target_again} out",
    "{cool} {target} {in}, take it out and close the door",
    "open {place}, {put} {target} inside, close it, then open it and take {target_again} out",
    "{put} {target} {in} to {cool_it}, then take it out again",
    "open {place} and {cool} {target}, {then} take it out and close {place_again}",
)
TOGGLE = (
    "{switch_on} {target}",
    "turn {target} on",
    "{switch_on} {target} and {look_at} {held}",
    "{switch_on} {target} to {look_at} {held}",
    "{look_at} {held} {under} {target} after you {switch_it_on}",
)

#: What to do with things in plain reach, by ALFRED's name of the step.
ACTIONS = {
    "PickupObject": PICKUP,
    "PutObject": PUT,
    "SliceObject": SLICE,
    "CleanObject": CLEAN,
    "HeatObject": HEAT,
    "CoolObject": COOL,
    "ToggleObject": TOGGLE,
}
#: The same with things in a container that is opened and closed.
OPENED = {"PickupObject": PICKUP_OPEN, "PutObject": PUT_OPEN, "SliceObject": SLICE_OPEN}
#: The same with things in or on something that stands in such a container.
WITHIN = {"PickupObject": PICKUP_WITHIN, "PutObject": PUT_WITHIN, "SliceObject": SLICE_WITHIN}

RELATIONS: dict[Bearing, tuple[str, ...]] = {
    Bearing.BESIDE: ("by", "next to", "near", "beside", "close to"),
    Bearing.LEFT: ("to the left of", "left of", "on the left side of"),
    Bearing.RIGHT: ("to the right of", "right of", "on the right side of"),
    Bearing.PART: ("of", "in"),
    Bearing.ABOVE: ("above", "over"),
    Bearing.BELOW: ("below", "under", "underneath"),
}
LEVELS: dict[Level, tuple[str, ...]] = {
    Level.UPPER: ("upper", "overhead", "high"),
    Level.LOWER: ("lower", "low"),
    Level.TOP: ("top", "highest", "uppermost"),
    Level.BOTTOM: ("bottom", "lowest"),
    Level.MIDDLE: ("middle",),
}
