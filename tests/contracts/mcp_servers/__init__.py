"""Servers that the tests start: one of our own, and those that `package.json` names."""
