"""Readers and writers of one file format each."""
