"""The daily loop's rules: what a schedule's text means, which instants it has, and what becomes of each of them.

Pure: a job is a fold of facts (`planned`), `due.decide` says the next step, and somebody else takes it.
"""
