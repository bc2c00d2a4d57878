"""The tests, in folders that follow the tree; what they share is in ``tests.helpers``."""

from pathlib import Path

#: The checkout.
ROOT = Path(__file__).parents[1]
