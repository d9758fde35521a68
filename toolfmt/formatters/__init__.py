"""Model -> wire: schemas, examples and calls as text, pure functions."""
