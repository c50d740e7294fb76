"""Problem set 1."""
