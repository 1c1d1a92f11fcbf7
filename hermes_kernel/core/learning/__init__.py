"""The rules of what an agent learns: entries and their limits, skills, when to look, and what is hostile."""
