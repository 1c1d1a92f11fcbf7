"""A store that several homes share, on a PostgreSQL server. psycopg is imported when the server is first asked.

What talks to the server is imported where a home shares one, and nowhere else.
"""
