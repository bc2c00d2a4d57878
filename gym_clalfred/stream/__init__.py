"""Schedules of episodes and the wrapper that enforces them."""
