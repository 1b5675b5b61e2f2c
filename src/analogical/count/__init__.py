"""Codes to counts: whole numbers in, whole numbers out, no names."""
