"""Which dialect a name, a provider or a model means.

`registry` maps names to dialects, `providers` holds the table of providers and models, `choice` and `settings`
pick one of them for a call, an agent or a team, and `discovery` imports the files of `toolfmt.dialects`.
"""
