"""Cassettes on disk, and what records in them and answers from them (`core/recording` has the rules).

`recordings` are an agent's: it is `listening` to a wire or `replaying` in its place, and does the same with `calls` of
tools. What passes is looked at in a `form` that is the same on any machine, and goes by a `reel` into a file that is
`held`; a `player` answers from one. `beside` says where it lies, `heads` who was asked.
"""
