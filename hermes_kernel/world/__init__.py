"""What the core asks for, done: models, tools, the store, the clock. Knows the core and the outside, never a notebook's face."""
