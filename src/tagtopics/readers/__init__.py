"""Readers of bibliographic, library, database and matrix files."""
