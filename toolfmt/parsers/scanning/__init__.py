"""The window over the text, the patterns that find markers in it, and the sink of events."""
