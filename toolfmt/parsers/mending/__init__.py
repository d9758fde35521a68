"""Repairs failed calls, on request."""
