"""What a dialect is: the record of a wire format, the syntax it is made of, and their checks.

`record` holds `Dialect` and `Traits`; `syntax`, `literals` and `frames` the data of a text format; `records`
reads and writes that data as JSON.
"""
