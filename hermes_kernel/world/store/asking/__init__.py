"""Questions to a home, answered from its database and from what is not in it yet as if they were one."""
