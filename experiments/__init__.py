"""Which questions to put to which judge, and what to print about the answers."""
