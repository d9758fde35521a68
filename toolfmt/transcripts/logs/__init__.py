"""Conversations as agents and evaluations record them."""
