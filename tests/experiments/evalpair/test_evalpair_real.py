"""A matrix with the real small judge on vLLM, held to the schema of its replies."""

import pytest

from analysis import verdicts

CAST = ["perturbers=[scripted]", "generators=[scripted]", "judges=[smollm2,scripted]", "labeller=scripted"]


@pytest.mark.vllm
def test_the_small_judge_says_something_of_every_answer(evalpair):
    folder = evalpair("data.limit=2", "constrained=true", "model.context=1536", "engine=vllm", cast=CAST)
    rows = verdicts.read([folder / "verdicts.parquet"]).query("judge == 'smollm2'")
    assert len(rows) == 2 and (rows["outcome"] == "ok").all()
    assert rows["grade"].isin(["ERROR", "NO_ERROR"]).all() and rows["confidence"].between(0, 1).all()
    assert rows["engine"].str.startswith("vllm ").all() and (rows["prompt_tokens"] > 200).all()
