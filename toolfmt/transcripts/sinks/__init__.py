"""What writes an answer as one API's stream, step by step."""
