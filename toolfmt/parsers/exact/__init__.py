"""Fast readers of whole answers that are spelled exactly as their format writes them."""
