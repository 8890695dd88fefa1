"""Other people's judge outputs as verdict tables: a module a format, one door (`python -m experiments.imports`)."""
