"""The same numbers on every processor."""
