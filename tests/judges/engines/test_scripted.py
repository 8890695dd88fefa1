import time

import pytest

from judges.engines import Placement, ScriptedSettings, open_engine
from judges.engines.scripted import Scripted
from judges.formats import FORMATS
from judges.prompts import load
from judges.records import Completion, Message, ModelSpec, Request, Sampling, UserError

MODEL = ModelSpec("scripted", "1")


def ask(text="?", repeat=0):
    return Request(MODEL, (Message("user", text),), Sampling(8), repeat)


def answer(engine, request):
    [(same, completion)] = engine.generate([request])
    assert same is request
    return completion


def test_answers_by_the_function():
    engine = Scripted(lambda request: request.messages[0].content.upper())
    assert answer(engine, ask("a")) == Completion("A", engine="scripted function")


def test_a_function_that_fails_is_one_error_and_the_rest_goes_on():
    engine = Scripted(lambda request: str(1 / request.repeat))
    outcomes = [(c.outcome, c.note) for _, c in engine.generate([ask(repeat=0), ask(repeat=1)])]
    assert outcomes == [("error", "ZeroDivisionError: division by zero"), ("ok", "")]


@pytest.mark.parametrize("form", FORMATS)
def test_the_first_answer_is_named_in_every_format(form):
    engine = open_engine(MODEL, Placement(""), ScriptedSettings(script="first"))
    assert FORMATS[form].read(answer(engine, ask(load("pairwise", form).instruction)).text).winner == "A"


def test_the_coin_is_fair_and_tossed_once_a_request():
    engine = open_engine(MODEL, Placement(""), ScriptedSettings(script="coin"))
    tosses = [answer(engine, ask(repeat=i)).text for i in range(1000)]
    assert tosses == [answer(engine, ask(repeat=i)).text for i in range(1000)]
    assert abs(tosses.count("A") - 500) < 64  # Four standard deviations.


def test_an_unknown_script_names_those_there_are():
    with pytest.raises(UserError, match="coin"):
        open_engine(MODEL, Placement(""), ScriptedSettings(script="dice"))


@pytest.mark.bench
def test_five_thousand_calls_a_second():
    requests = [ask(repeat=i) for i in range(20_000)]
    started = time.perf_counter()
    list(open_engine(MODEL, Placement(""), ScriptedSettings()).generate(requests))
    assert 20_000 / (time.perf_counter() - started) > 5_000
