"""The answers of each provider's API: a file for each, with its `API`."""
