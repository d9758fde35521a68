"""Requests of each provider's API, and beside each its answers and streams: `FORMAT`, and `API` in `NAME_answer.py`."""
