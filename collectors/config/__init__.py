"""The configuration: its keys, the files that set them, and the merged values."""
