"""The record as one HTML page, with its release lines over time."""
