"""Cassettes on disk, and what records in them and answers from them (`core/recording` has the rules)."""
