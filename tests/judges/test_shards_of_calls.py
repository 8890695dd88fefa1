"""Calls split among processes by their keys: every call is made once, and somebody sees the whole."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.ask import Shared, carry_out
from judges.engines.scripted import Scripted
from judges.records import Completion, Message, ModelSpec, Request, Sampling, UserError
from judges.shares import Share, Unfinished
from judges.store import Store

KEYS = st.text("0123456789abcdef", min_size=64, max_size=64)


def request(*words):
    messages = tuple(Message("user", word) for word in words)
    return Request(ModelSpec("m", "r"), messages, Sampling(16))


class Echo:
    """One call a word."""

    def ask(self, x, so_far, /):
        return [] if so_far else [request(word) for word in x.split()]

    def read(self, x, completions, /):
        return [c.text for c in completions]


class Chain:
    """As many rounds as there are words, each built on the reply to the one before."""

    def ask(self, x, so_far, /):
        words = x.split()
        if len(so_far) == len(words):
            return []
        return [request(*(c.text for c in so_far), words[len(so_far)])]

    def read(self, x, completions, /):
        return completions[-1].text


class Counting:
    def __init__(self, answer):
        self.asked = []
        self._engine = Scripted(answer)

    def generate(self, requests, /):
        self.asked += [r.key for r in requests]
        return self._engine.generate(requests)


def upper(r):
    return r.messages[-1].content.upper()


@given(KEYS, st.integers(1, 40), st.integers(1, 6))
def test_every_call_is_in_exactly_one_part_and_in_one_part_of_that(key, n, m):
    (owner,) = [Share(i, n) for i in range(1, n + 1) if Share(i, n).owns(key)]
    assert sum(owner.part(i, m).owns(key) for i in range(1, m + 1)) == 1
    assert not any(other.part(i, m).owns(key) for other in map(Share, range(1, n + 1), [n] * n) if other != owner
                   for i in range(1, m + 1))  # fmt: skip
    assert not Share(0, n).owns(key)


@pytest.mark.parametrize("text", ["5/4", "1/0", "0/0", "1", "a/b", "1/2/3", "-1/2", "1.0/2", "", "٣/٤"])
def test_a_share_that_is_no_part_is_refused(text):
    with pytest.raises(UserError, match="from 1 to N"):
        Share.parse(text)


def test_the_last_of_four_shards_reads_everything_and_no_call_is_made_twice(tmp_path):
    inputs = [f"w{i} w{i + 1}" for i in range(40)]
    engines = [Counting(upper) for _ in range(4)]
    for i, engine in enumerate(engines[:3], start=1):
        with Store(tmp_path) as store, pytest.raises(Unfinished) as left:
            carry_out(Echo(), inputs, Shared(engine, Share(i, 4)), store)
        assert left.value.missing == 41 - sum(len(e.asked) for e in engines)
    with Store(tmp_path) as store:
        answered = carry_out(Echo(), inputs, Shared(engines[3], Share(4, 4)), store)
    assert [a.result for a in answered] == [[w.upper() for w in x.split()] for x in inputs]
    asked = [key for e in engines for key in e.asked]
    assert len(asked) == len(set(asked)) == 41
    assert all(e.asked for e in engines)


def test_who_owns_nothing_only_reads(tmp_path):
    engine = Counting(upper)
    with Store(tmp_path) as store, pytest.raises(Unfinished) as left:
        carry_out(Echo(), ["a b"], Shared(engine, Share(0, 1)), store)
    assert (left.value.missing, engine.asked) == (2, [])


def test_rounds_that_build_on_replies_to_others_are_carried_out_once(tmp_path):
    inputs = [f"{i} a b c" for i in range(12)]
    engines = [Counting(upper) for _ in range(3)]
    results, failures = {}, []

    def one(i):
        try:
            with Store(tmp_path) as store:
                shared = Shared(engines[i], Share(i + 1, 3), more=True, patience=20, poll=0.01)
                results[i] = [a.result for a in carry_out(Chain(), inputs, shared, store)]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
        thread.join(0.05)
    for thread in threads:
        thread.join(30)
    asked = [key for e in engines for key in e.asked]
    assert len(asked) == len(set(asked)) == 48
    assert any(found == ["C"] * 12 for found in results.values())
    assert all(isinstance(failure, Unfinished) for failure in failures)


def test_nobody_waits_longer_than_its_patience_for_those_who_never_come(tmp_path):
    with Store(tmp_path) as store, pytest.raises(Unfinished):
        shared = Shared(Counting(upper), Share(1, 2), more=True, patience=0.05, poll=0.01)
        carry_out(Chain(), ["a b", "c d", "e f"], shared, store)


def test_an_error_of_ours_is_asked_once_a_run_and_an_error_of_others_is_no_hole(tmp_path):
    inputs = [f"w{i}" for i in range(20)]
    for i, last in ((1, False), (2, True)):
        engine = Counting(lambda r: Completion("", outcome="error", note="down"))
        with Store(tmp_path) as store:
            shared = Shared(engine, Share(i, 2))
            if last:
                assert len(carry_out(Echo(), inputs, shared, store)) == 20
            else:
                with pytest.raises(Unfinished):
                    carry_out(Echo(), inputs, shared, store)
        assert len(engine.asked) == len(set(engine.asked))


def test_two_processes_with_the_same_share_do_no_harm(tmp_path):
    inputs = [f"w{i}" for i in range(20)]
    with Store(tmp_path) as one, Store(tmp_path) as twin:
        for store in (one, twin):
            with pytest.raises(Unfinished):
                carry_out(Echo(), inputs, Shared(Scripted(upper), Share(1, 2)), store)
    with Store(tmp_path) as store:
        answered = carry_out(Echo(), inputs, Shared(Scripted(upper), Share(2, 2)), store)
    assert [a.result for a in answered] == [[x.upper()] for x in inputs]
