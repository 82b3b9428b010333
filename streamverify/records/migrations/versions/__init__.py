"""The versions of the schema, oldest first; a version once released is never changed."""
