"""What a person says of jobs and what they are told, the same in a notebook and in a shell.

``verbs`` are the commands and their options, ``reading`` reads a word of one, ``doing`` does what was said through
`Jobs`, and ``telling`` says what came of it: rows and lines for people, JSON for programs. Nothing here knows a screen.
"""
