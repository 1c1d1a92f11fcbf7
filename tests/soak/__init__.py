"""Many kernels in one home for a long time: does anything grow, is anything left behind, is the store whole?

``python -m tests.soak --kernels 8 --minutes 30``. Here: what the model says, what a person does, what is measured.
"""
