"""The audit of tags."""
