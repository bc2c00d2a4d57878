"""Recurrences and products that make it quick on a CPU."""
