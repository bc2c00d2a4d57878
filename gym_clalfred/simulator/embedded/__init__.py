"""The embedded household: 120 rooms, their rules and their pictures, in Python and numba."""
