"""What makes a search quick: the messages, units and places that stand in the database beside the facts.

`building` makes it of the facts; `postings` say where a unit stands, `terms` finds those of a query, `texts` the words.
"""
