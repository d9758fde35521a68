"""Reads answers: finds the regions of calls, reads each call, and resumes after a failure."""
