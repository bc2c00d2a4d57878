"""Continual-learning methods, their memories and metrics."""
