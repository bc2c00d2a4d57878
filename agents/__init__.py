"""Behaviour-cloning agents in the manner of Stable-Baselines3."""
