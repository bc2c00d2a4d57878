"""What agents see with."""
