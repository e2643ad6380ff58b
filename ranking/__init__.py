"""Facts in, ranking out: no I/O, no clock, no environment, no logging, no randomness.

Imports the standard library's pure parts, packaging and msgspec, and nothing of collectors or candidates.
"""
