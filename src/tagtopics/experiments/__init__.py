"""The paper's experiments: specs, one JSON line a result, tables and figures made from those lines alone."""
