"""Episodes: ALFRED's trajectory format, where episodes come from, tiers and splits."""
