"""The rules of what an agent learns: entries and their limits, skills, when to look, and what is hostile.

`memory` is about entries, `skill` about skills, `patching` about a passage that is changed. `looking`, `triggers` and
`correcting` say when a slow loop looks, `instructing` what it is told, `curating` what becomes of a skill, `threats`
what is hostile; modules that begin with one of these names have its parts. `loops` is the table of all eight.
"""
