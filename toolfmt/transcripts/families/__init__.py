"""What several APIs of one family share."""
