"""What Tab offers and Shift-Tab tells, in a prompt and after ``%hermes``."""
