"""The calls of operators."""
