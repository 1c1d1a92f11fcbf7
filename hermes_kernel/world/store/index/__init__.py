"""What makes a search quick: the messages, units and places that stand in the database beside the facts."""
