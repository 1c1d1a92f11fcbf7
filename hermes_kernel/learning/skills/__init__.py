"""Skills: folders of instructions that are offered, found, read, marked and kept in order."""
