"""Anything at all, where something comes in from outside: bytes of servers, files of others, texts of people and models.

``python -m tests.fuzz`` plays every target, or those that are named, with atheris where it is installed and with a loop of
its own where it is not; the gate plays a small share of each by seed (`tests/laws/test_fuzz.py`,
`tests/contracts/test_fuzz.py`). A target takes bytes and raises where something does not hold. What was ever found is kept
as a test of its kind in `tests/laws/test_fuzz_found.py` and `tests/contracts/test_fuzz_found.py`.
"""
