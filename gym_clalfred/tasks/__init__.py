"""What an episode asks for: task types, goal conditions and rewards."""
