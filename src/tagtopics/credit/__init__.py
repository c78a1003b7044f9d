"""Credit attribution: which tag of a document accounts for which of its words."""
