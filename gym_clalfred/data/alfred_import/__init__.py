"""Rebuilds rooms and episodes for the embedded simulator from ALFRED's published files."""
