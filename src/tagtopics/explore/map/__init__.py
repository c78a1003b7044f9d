"""The map of documents: layout, shapes and drawing."""
