"""Reads whole answers that are exactly as their format writes them."""
