"""What goes for good, in steps that a crash may part, and the room that it took.

`deletion` is what a person asks for, `retired` what every reader knows of it at once; `forgetting` has the database
follow, and `compaction` gives the room back.
"""
