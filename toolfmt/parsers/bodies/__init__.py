"""One grammar for each notation of arguments; each finds its own end."""
