"""How long what is to happen at once may take on a machine that has much else to do."""

SOON = 5.0  # seconds; each takes less than one on a quiet machine, and half a minute or for ever where it is broken
