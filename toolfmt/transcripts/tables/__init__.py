"""The engine that reads and writes formats described by tables."""
