"""What was said between an agent and its servers, kept so that it can be said again: a cassette, its lines, and what in
a request it is found by. Pure."""
