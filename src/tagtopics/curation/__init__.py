"""Edits of topics: a journal, and fits that keep to it."""
