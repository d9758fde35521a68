"""The window over the text, the patterns that find markers, and the sink of events."""
