"""Tells, while a RAG answer is still streaming, which sentences its passages support."""
