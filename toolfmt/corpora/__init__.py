"""Conversations by the million: files in, files out, on one machine or many.

    sources -> batches -> a pure function of each batch -> what it gave, in order -> output

A batch is some rows of one file, and where it begins and ends follows from the file alone. So any number of processes,
either engine, and a run that was interrupted and resumed all write the same bytes.
"""
