"""Problem set 5."""
