"""How many planted errors an audit finds: pages/audit-results.md."""
