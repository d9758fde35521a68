"""What the parts of a conversation are made of, whatever the format."""
