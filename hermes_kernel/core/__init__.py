"""The rules of the agent: values and total functions. No I/O, clock, chance, environment or logging.

Facts are `events`, a turn is `state`; `record` folds one into the other, `policy` decides what is next, `turn` plays.
`budget` counts calls; `fill`, `gauge`, `windows` and `compression` keep to the model's window; `faults`, `classify` and
`trouble` say what failed; `stream`, `calls`, `thinking` and `rescue` read a reply. `search` finds what was said;
`safe`, `redact` and `text` make it harmless; `plain` is the form it is kept in.
"""
