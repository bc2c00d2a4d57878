"""The 120 rooms, made from their numbers."""
