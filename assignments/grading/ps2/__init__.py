"""Problem set 2."""
