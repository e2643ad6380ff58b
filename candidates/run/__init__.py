"""One run: what it is made of, collecting, deciding, what a person answered, and what is recorded."""
