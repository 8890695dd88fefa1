"""Other people's judge outputs as verdict tables: a module a source format, one door: `python -m experiments.imports`."""
