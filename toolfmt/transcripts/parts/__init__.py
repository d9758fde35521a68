"""Building blocks of parts that all formats share."""
