"""One module per outside thing; each turns what it read into facts and nothing else. Imports ranking only."""
