"""Thousands of random turns of real agents against a real server with every fault there is, and hundreds of kills; the
laws of a turn are looked at after each. ``python -m tests.campaign`` plays it; `seeds.txt` has what it found."""
