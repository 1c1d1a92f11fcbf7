"""What makes an agent better over time: memory, skills, and the slow loops that tend to them."""
