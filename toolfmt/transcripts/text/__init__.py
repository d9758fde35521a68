"""Conversations in the text of a dialect."""
