"""A store that several homes share, on a PostgreSQL server. psycopg is imported when the server is first asked.

What talks to the server is imported where a home shares one, and nowhere else: the `hub` is the store, a `line` to the
server at an `address` carries it. `claims` say who acts on a session, `shipping` what a home still owes; `schema`,
`tables` and the views are the server's SQL.
"""
