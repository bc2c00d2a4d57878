"""Acting, evaluating and filming."""
