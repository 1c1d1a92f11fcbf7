"""What is larger, emptier, older or fuller than anybody means it to be: each in a process of its own, measured.

``python -m tests.soak.extremes [NAME …]``; without a name they are listed.
"""
