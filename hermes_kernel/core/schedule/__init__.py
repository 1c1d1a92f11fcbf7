"""The daily loop's rules: what a schedule's text means, which instants it has, and what becomes of each of them.

Pure: a job is a fold of facts (`planned`), `due.decide` says the next step, and somebody else takes it. `grammar` reads
a text by its `words` or as a `cronline`, and `saying` says it back; `instants` are when it is due, `coming` those that
are not on record yet; a `ledger` is what became of a job so far, `rows` of each instant.
"""
