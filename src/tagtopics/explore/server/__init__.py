"""The server: pages and an API on this machine."""
