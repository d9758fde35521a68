"""A model's own chat template: read from its folder, rendered in a sandbox with limits."""
