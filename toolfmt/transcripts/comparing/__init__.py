"""Compares two conversations: which calls and results belong together, and what was lost."""
