"""Writes answers as providers' streams."""
