"""Single answers graded by the real small judge, held to a grammar, with log-probabilities."""

WORDS = ("engine=transformers", "constrained=true", "logprobs=true", "model.max_tokens=16", "model.context=1024")


def test_a_grammar_leaves_only_the_grades(study):
    design = ("swap=type_preserving", "format=standard", "data.limit=1", "data.languages=[en]")
    rows = study("swapref", *WORDS, *design, judge="smollm2").verdicts
    assert len(rows) == 4
    assert rows["outcome"].eq("ok").all()
    assert rows["grade"].isin(["CORRECT", "INCORRECT"]).all()
    assert rows["p_first"].between(0, 1).all()
    # Under a grammar of two words most of the probability is theirs; some is left to beginnings of one letter.
    assert rows["label_mass"].between(0.5, 1).all()
