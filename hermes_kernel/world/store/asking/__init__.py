"""Questions to a home, answered from its database and from what is not in it yet as if they were one.

A `hand` has both ready; the `tail` is what is not in the index yet. `searching`, by `sifting`, `listing`, `kin`,
`kindred`, `learnt`, `counting` and `spending` are the questions.
"""
