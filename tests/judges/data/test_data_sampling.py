from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.data.sampling import draw, proportional, uniform
from judges.records import Item, UserError


def items_of(*strata):
    """For each stratum a string of golds: `items_of("AAB", "B")`."""
    return [
        Item(f"{s}-{i}", "d", f"q{s}-{i}", ("x", "y"), gold, source=f"s{s}")
        for s, golds in enumerate(strata)
        for i, gold in enumerate(golds)
    ]


def drawn(items, limit, seed=0, **options):
    return draw(items, limit, np.random.default_rng(seed), **options)


def by_source(items):
    return Counter(item.source for item in items)


def sequence(allocate, sizes):
    taken = [0] * len(sizes)
    for _ in range(sum(sizes)):
        s = allocate(sizes, taken)
        taken[s] += 1
        yield s, tuple(taken)


sizes = st.lists(st.integers(1, 60), min_size=1, max_size=17)


@given(sizes)
def test_proportional_is_a_rounding_of_the_exact_shares_at_every_size(sizes):
    for n, (_, taken) in enumerate(sequence(proportional, sizes), 1):
        assert all(abs(given - n * size / sum(sizes)) < 1 for given, size in zip(taken, sizes, strict=True))


@given(sizes)
def test_uniform_never_favours_a_stratum_that_another_could_match(sizes):
    for _, taken in sequence(uniform, sizes):
        left = [given for given, size in zip(taken, sizes, strict=True) if given < size]
        assert not left or max(taken) <= min(left) + 1


def test_proportional_by_hand():
    assert [s for s, _ in sequence(proportional, [3, 1])] in ([0, 0, 1, 0], [0, 1, 0, 0])


def test_shares_by_hand():
    items = items_of("AB" * 30, "AB" * 20, "AB" * 10)
    assert by_source(drawn(items, 12)) == {"s0": 6, "s1": 4, "s2": 2}
    assert by_source(drawn(items, 12, sample="uniform")) == {"s0": 4, "s1": 4, "s2": 4}
    assert by_source(drawn(items, 45, sample="uniform")) == {"s0": 15, "s1": 15, "s2": 15}
    assert by_source(drawn(items_of("AB" * 9, "AB"), 12, sample="uniform")) == {"s0": 10, "s1": 2}


@given(
    st.lists(st.text("AB", min_size=1, max_size=12), min_size=1, max_size=6),
    st.integers(1, 80),
    st.integers(0, 3),
    st.sampled_from(["proportional", "uniform", "random"]),
    st.booleans(),
)
def test_a_smaller_sample_lies_within_a_larger_in_the_order_of_the_files(strata, limit, seed, sample, balance):
    items = items_of(*strata)
    small = drawn(items, limit, seed, sample=sample, balance=balance)
    large = drawn(items, limit + 1, seed, sample=sample, balance=balance)
    assert set(map(id, small)) <= set(map(id, large))
    assert len(small) == min(limit, len(items))
    assert list(small) == [item for item in items if item in small]


def test_golds_come_up_equally_often_in_every_source():
    items = items_of("A" * 30 + "B" * 8, "B" * 25 + "A" * 9)
    for limit in range(1, 17):
        sample = drawn(items, limit, balance=True)
        for source in ("s0", "s1"):
            golds = Counter(item.gold for item in sample if item.source == source)
            assert abs(golds["A"] - golds["B"]) <= 1
        overall = Counter(item.gold for item in sample)
        assert abs(overall["A"] - overall["B"]) <= 1


def test_unbalanced_draws_follow_the_population():
    items = items_of("A" * 900 + "B" * 100)
    shares = [np.mean([item.gold == "A" for item in drawn(items, 100, seed, balance=False)]) for seed in range(40)]
    # 4,000 draws: standard deviation of the mean share below 0.005.
    assert abs(np.mean(shares) - 0.9) < 0.02


def test_a_random_sample_knows_no_strata_but_balances_golds():
    items = items_of("A" * 90 + "B" * 10, "A" * 10 + "B" * 90)
    samples = [drawn(items, 40, seed, sample="random") for seed in range(40)]
    for sample in samples:
        assert Counter(item.gold for item in sample) == {"A": 20, "B": 20}
    # Each A is of s0 with probability 0.9 and each B with 0.1: 20 on average. A stratified draw has 20 every time.
    counts = [by_source(sample)["s0"] for sample in samples]
    assert len(set(counts)) > 3 and abs(np.mean(counts) - 20) < 2


def test_an_unbalanced_random_sample_is_the_first_of_one_shuffle():
    items = items_of("A" * 30 + "B" * 5, "B" * 7)
    shuffled = np.random.default_rng(3).permutation(len(items))
    expected = [items[i] for i in sorted(shuffled[:12])]
    assert list(drawn(items, 12, seed=3, sample="random", balance=False)) == expected


def test_every_item_of_a_stratum_is_equally_likely():
    items = items_of("AB" * 5, "AB" * 5)
    counts = Counter(item.id for seed in range(1000) for item in drawn(items, 4, seed))
    # Each is drawn with probability 0.2: 200 of 1,000, standard deviation 12.6.
    assert len(counts) == 20 and all(abs(n - 200) < 4.5 * 12.6 for n in counts.values())


def test_the_seed_decides():
    items = items_of("AB" * 50)
    assert drawn(items, 10, seed=1) == drawn(items, 10, seed=1) != drawn(items, 10, seed=2)


def test_all_when_there_is_no_limit_or_it_is_beyond_reach():
    items = items_of("AB", "A")
    assert drawn(items, None) == drawn(items, 3) == drawn(items, 99) == tuple(items)


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(UserError, match=f"data.limit={limit} leaves no items"):
        drawn(items_of("AB"), limit)


def test_an_unknown_kind_of_sample_is_refused():
    with pytest.raises(UserError, match=r"data.sample=stratified .* proportional, uniform, random"):
        drawn(items_of("AB"), 1, sample="stratified")
