"""What ``%hermes COMMAND`` does: `every` is the table of all, and has them done; each of the others does some. `table`
has what they show."""
