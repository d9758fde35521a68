"""One grammar for each way to write arguments; each finds its own end."""
