"""A history in OpenSearch: pushed from a folder and pulled into one. docs/history.md describes it."""
