"""A dialect's record, compiled once."""
