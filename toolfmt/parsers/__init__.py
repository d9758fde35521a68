"""Wire text -> events: one file per grammar, never one per model."""
