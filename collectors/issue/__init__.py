"""An issue reference, and an issue that is read from a file."""
