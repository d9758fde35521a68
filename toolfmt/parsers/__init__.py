"""Parsers turn a model's text into events: one file per grammar, never one per model."""
