"""The policies: one file for each step of the enforcement."""
