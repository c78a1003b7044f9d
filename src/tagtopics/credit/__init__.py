"""Credit attribution: which tag accounts for which word."""
