"""How long what is to happen at once may take on a machine that has much else to do.

What is promised of an interrupt is measured by `tests/bench`, side by side in one run: a machine may be three times as
slow for an hour, and no test is to fail for that.
"""

SOON = (
    5.0  # seconds; each takes less than one on a quiet machine, and four times as long or for ever where it is broken
)
