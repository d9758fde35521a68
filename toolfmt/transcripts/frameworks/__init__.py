"""Conversations in the formats of frameworks for agents and applications."""
