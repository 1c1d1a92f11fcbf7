"""The rules of the agent: values and total functions. No I/O, clock, chance, environment or logging.

Facts are `events`, a turn is `state`; `record` folds one into the other, `policy` decides which of the `commands` is
next, `turn` plays. `budget` counts calls; `fill`, `gauge`, `windows` and `compression` keep to the model's window;
`faults` and `classify` say what failed; `stream`, `calls` and `rescue` read a reply; `safe`, `redact` and `text` make
it harmless, `plain` keeps it. The other packages have the rules of what goes on beside a turn.
"""
