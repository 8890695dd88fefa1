import pytest

from judges.ask import carry_out
from judges.engines.scripted import Scripted
from judges.records import Completion, Message, ModelSpec, Request, Sampling
from judges.store import Store

MODEL = ModelSpec("model", "1")


def request(text, repeat=0):
    return Request(MODEL, (Message("user", text),), Sampling(8), repeat=repeat)


class Echo:
    """Asks for each word of a text, and once more if the first reply was a question."""

    def ask(self, x, so_far, /):
        if not so_far:
            return [request(word) for word in x.split()]
        return [request(x + "?")] if len(so_far) == 1 and so_far[0].text.endswith("?") else []

    def read(self, x, completions, /):
        return [c.text for c in completions]


class Counting(Scripted):
    def __init__(self, answer):
        super().__init__(answer)
        self.asked = []

    def generate(self, requests, /):
        self.asked += [r.messages[-1].content for r in requests]
        yield from reversed(list(super().generate(requests)))  # any order will do


def upper(r):
    return r.messages[-1].content.upper()


def test_results_come_in_the_order_of_inputs_and_equal_calls_are_made_once(tmp_path):
    engine = Counting(upper)
    with Store(tmp_path) as store:
        answered = carry_out(Echo(), ["a b", "b c", "a b"], engine, store)
    assert [a.result for a in answered] == [["A", "B"], ["B", "C"], ["A", "B"]]
    assert sorted(engine.asked) == ["a", "b", "c"]
    assert answered[0].keys == (request("a").key, request("b").key)


def test_what_the_store_has_is_not_asked(tmp_path):
    with Store(tmp_path) as store:
        first = carry_out(Echo(), ["a b"], Counting(upper), store)
    engine = Counting(lambda r: pytest.fail("asked again"))
    with Store(tmp_path) as store:
        assert carry_out(Echo(), ["a b"], engine, store) == first
    assert engine.asked == []


def test_a_step_may_follow_up(tmp_path):
    engine = Counting(lambda r: r.messages[-1].content + "?")
    with Store(tmp_path) as store:
        answered = carry_out(Echo(), ["why"], engine, store)
    assert answered[0].result == ["why?", "why??"]


def test_errors_are_asked_again_by_the_next_run_and_not_by_this_one(tmp_path):
    def failing(r):
        raise RuntimeError("no such luck")

    engine = Counting(failing)
    with Store(tmp_path) as store:
        answered = carry_out(Echo(), ["a"], engine, store)
    assert answered[0].completions[0].outcome == "error"
    assert "no such luck" in answered[0].completions[0].note
    assert engine.asked == ["a"]
    with Store(tmp_path) as store:
        assert carry_out(Echo(), ["a"], Counting(upper), store)[0].result == ["A"]


def test_a_crash_half_way_loses_only_what_was_not_finished(tmp_path):
    def dying(r):
        if r.messages[-1].content == "c":
            raise KeyboardInterrupt
        return upper(r)

    with pytest.raises(KeyboardInterrupt), Store(tmp_path) as store:
        carry_out(Echo(), ["a b c d"], Scripted(dying), store)
    engine = Counting(upper)
    with Store(tmp_path) as store:
        assert carry_out(Echo(), ["a b c d"], engine, store)[0].result == ["A", "B", "C", "D"]
    assert sorted(engine.asked) == ["c", "d"]


def test_progress_is_told_of_every_call(tmp_path):
    class Watch:
        def __init__(self):
            self.rounds, self.calls = [], []

        def begin(self, total, stored, /):
            self.rounds.append((total, stored))

        def finished(self, completion, /):
            self.calls.append(completion.text)

    watch = Watch()
    with Store(tmp_path) as store:
        store.put(request("a"), Completion("A"))
        carry_out(Echo(), ["a b c"], Scripted(upper), store, watch)
    assert watch.rounds == [(3, 1)]
    assert sorted(watch.calls) == ["B", "C"]
