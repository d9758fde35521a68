"""Checks whether what a model's chat template writes is what its dialect reads.

diagnose("Qwen3-8B")    # Diagnosis(dialect="qwen25", checks=(Check("one call", "ok", ...), ...))
"""
