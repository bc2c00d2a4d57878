"""An agent that keeps a semantic map: it looks for what the words ask for, and walks there."""
