"""The paper's experiments: specs, records with one JSON line each, tables and figures from the records."""
