"""What is kept, as it is read: a conversation, what a search found in many, a family of them, a change. Pure."""
