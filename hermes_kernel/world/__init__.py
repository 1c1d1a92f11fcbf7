"""What the core asks for, done: models, tools, the store, the clock. Knows the core, never a face."""
