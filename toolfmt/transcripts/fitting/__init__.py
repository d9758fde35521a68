"""Fits a conversation to what a format can represent."""
