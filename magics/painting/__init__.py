"""Outputs that change while something goes on: painters, the stage that widgets stand on, and
a question to a person."""
