"""The paper's agent."""
