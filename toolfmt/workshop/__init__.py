"""Tools for those who publish, serve and study models.

Grammars for constrained decoding, chat templates, the doctor, the probe, and the laws that test a dialect.
"""
