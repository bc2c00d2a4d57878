"""Simulators: the contract, the embedded household and AI2-THOR."""
