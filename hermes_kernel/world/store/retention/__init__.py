"""What goes for good, in steps that a crash may part, and the room that it took."""
