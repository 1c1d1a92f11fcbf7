"""Kernels of one's own, for work that must not touch the person's notebook. Nothing heavy is imported before a call.

`own` is the tool `python` over one, `living` one process from start to end, `heard` what it answers, `last_words` what
it wrote before it died; `printing` is how much any kernel says at once, and in each from its start.
"""

PACED = "hermes_kernel.world.kernels.printing.Paced"
"""What a kernel of ours prints through, by the name that IPython's application takes."""
