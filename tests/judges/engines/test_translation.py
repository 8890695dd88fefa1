import math
from itertools import pairwise

import pytest

from judges.engines.chat import Plan
from judges.engines.decoding import draw
from judges.engines.vllm import sampling_arguments, structured_arguments
from judges.labels import label_logprobs
from judges.records import Constraint, Message, ModelSpec, Request, Sampling

MODEL = ModelSpec("m", "1")


def plan(repeat=0, **sampling):
    request = Request(MODEL, (Message("user", "?"),), Sampling(64, **sampling), repeat)
    return Plan(request, [1, 2, 3], 40)


def test_greedy_calls_have_no_seed_and_no_nucleus():
    arguments = sampling_arguments(plan(top_p=0.5), [], [2], seeded=True)
    assert (arguments["temperature"], arguments["top_p"], arguments["seed"]) == (0.0, 1.0, None)


def test_sampled_repeats_have_seeds_of_63_bits_that_are_unrelated():
    seeds = [sampling_arguments(plan(i, temperature=1.0), [], [2], seeded=True)["seed"] for i in range(64)]
    assert len(set(seeds)) == 64 and all(0 <= s < 2**63 for s in seeds)
    assert min(abs(a - b) for a, b in pairwise(seeds)) > 2**40


def test_seeds_can_be_left_out():
    assert sampling_arguments(plan(temperature=1.0), [], [2], seeded=False)["seed"] is None


def test_a_call_writes_no_more_than_there_is_room_for_and_ends_where_the_model_says():
    arguments = sampling_arguments(plan(), [7, 8], [2, 106], seeded=True)
    assert (arguments["max_tokens"], arguments["stop_token_ids"], arguments["logprob_token_ids"]) == (
        40,
        [2, 106],
        [7, 8],
    )


def test_a_temperature_that_vllm_would_raise_is_refused():
    with pytest.raises(ValueError, match=r"0\.001"):
        sampling_arguments(plan(temperature=0.001), [], [2], seeded=True)


@pytest.mark.parametrize("kind, value", [("json", '{"type": "object"}'), ("regex", "[AB]")])
def test_constraints_keep_their_kind(kind, value):
    assert structured_arguments(Constraint(kind, value)) == {kind: value}


def test_label_probabilities_add_up_over_the_set():
    logs = {1: math.log(0.2), 2: math.log(0.3), 3: math.log(0.1)}
    assert math.exp(label_logprobs(logs, {"A": (1, 2)})["A"]) == pytest.approx(0.5)


def test_a_label_that_cannot_come_has_probability_zero():
    assert label_logprobs({1: -math.inf, 2: -math.inf}, {"A": (1, 2)}) == {"A": -math.inf}


torch = pytest.importorskip("torch")


def drawn(probabilities, top_p=1.0, temperature=1.0, n=2000):
    generator = torch.Generator().manual_seed(1)
    logits = torch.tensor(probabilities).log()
    tokens = [draw(logits, temperature, top_p, generator) for _ in range(n)]
    return [tokens.count(i) / n for i in range(len(probabilities))]


def test_greedy_takes_the_likeliest():
    assert draw(torch.tensor([0.1, 3.0, 0.2]), 0, 1.0, None) == 1


def test_temperature_one_draws_from_the_models_distribution():
    assert drawn([0.6, 0.3, 0.1]) == pytest.approx([0.6, 0.3, 0.1], abs=0.04)


def test_temperature_two_flattens_it():
    assert drawn([0.8, 0.2], temperature=2.0) == pytest.approx([2 / 3, 1 / 3], abs=0.04)  # sqrt(4) : 1.


@pytest.mark.parametrize("top_p, kept", [(0.5, [1, 0, 0]), (0.7, [2 / 3, 1 / 3, 0])])
def test_the_nucleus_is_the_smallest_set_that_reaches_top_p(top_p, kept):
    assert drawn([0.6, 0.3, 0.1], top_p=top_p) == pytest.approx(kept, abs=0.04)


def test_equal_generators_draw_alike():
    assert drawn([0.6, 0.4], n=50) == drawn([0.6, 0.4], n=50)
