"""With what else does it work? ``python -m tests.compatibility`` tries it, each combination in an environment of its own."""
