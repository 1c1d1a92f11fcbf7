"""Contenders, a file each: `playing` measures them, in processes and environments of their own."""
