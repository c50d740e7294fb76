"""Problem set 4."""
