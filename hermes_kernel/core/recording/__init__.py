"""What was said between an agent and its servers, kept so that it can be said again. Pure.

A `cassette` is what is kept, `lines` and `reading` are its text. A request is found in its `normal` form without what
is `ours`, by `finding`, or else `differing` tells the closest. `secrets`, `bodies` and `folders` take out what is of
one person and place, `headers` and `repeatable` what is of one time.
"""
