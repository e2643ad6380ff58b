"""The application. Candidate *branches* are the business of `ranking`."""

__version__ = "0.1.0"
