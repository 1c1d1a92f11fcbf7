"""A store that several homes share, on a PostgreSQL server. psycopg is imported when the server is first asked."""

from hermes_kernel.world.store.shared.address import Address
from hermes_kernel.world.store.shared.hub import Hub

__all__ = ["Address", "Hub"]
