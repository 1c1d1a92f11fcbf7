"""What is kept, as it is read: a conversation, what a search found in many, a family of them, a change. Pure.

`reading`, `finds`, `lineage` (in words: `descent`) and `diffs` are these; `pages` and `spread` are pieces for panels.
"""
