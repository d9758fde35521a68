"""Pure functions that write schemas, examples, calls and results as text."""
