"""Conversations recorded by agents and evaluations."""
