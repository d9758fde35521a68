"""Whole and streamed answers of APIs, described by tables."""
