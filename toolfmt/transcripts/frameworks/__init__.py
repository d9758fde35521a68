"""Conversations as frameworks for agents and applications store them."""
