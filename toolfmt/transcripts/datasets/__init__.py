"""Conversations as rows of training data."""
