"""What a table of verdicts means; knows nothing of models, engines or configuration."""
