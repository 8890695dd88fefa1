import sys

import pytest

from judges.engines import OnDemand
from judges.records import Completion, Message, ModelSpec, Request, Sampling


class Recorded:
    """An engine that writes down what happens to it."""

    def __init__(self, model, log):
        self.fingerprint, self._log = f"recorded {model.name}", log
        log.append(f"open {model.name}")

    def generate(self, requests):
        for request in requests:
            yield request, Completion(request.model.name)

    def close(self):
        self._log.append(f"close {self.fingerprint[9:]}")


def ask(name, text="?", **model):
    return Request(ModelSpec(name, "1", **model), (Message("user", text),), Sampling(1))


@pytest.fixture
def log():
    return []


@pytest.fixture
def engine(log):
    with OnDemand(lambda model: Recorded(model, log)) as on_demand:
        yield on_demand


def test_nothing_to_do_opens_nothing(log):
    with OnDemand(lambda model: Recorded(model, log)) as engine:
        assert list(engine.generate([])) == [] and engine.fingerprint == ""
    assert log == []


def test_opens_once_and_closes_once(log):
    with OnDemand(lambda model: Recorded(model, log)) as engine:
        list(engine.generate([ask("m")]))
        list(engine.generate([ask("m", "again")]))
        assert engine.fingerprint == "recorded m"
        engine.close()
    assert log == ["open m", "close m"]


def test_closes_one_model_before_it_opens_the_next(engine, log):
    answers = [c.text for _, c in engine.generate([ask("m"), ask("n"), ask("m", "again")])]
    assert answers == ["m", "m", "n"] and log == ["open m", "close m", "open n"]


def test_an_engine_without_weights_takes_nobodys_place(log):
    with OnDemand(lambda model: Recorded(model, log), light=lambda model: model.name == "api") as engine:
        for name in ("m", "api", "m", "n", "api"):
            list(engine.generate([ask(name)]))
        assert log == ["open m", "open api", "close m", "open n"]
    assert sorted(log[4:]) == ["close api", "close n"]


def test_begins_with_the_model_that_is_loaded(engine, log):
    list(engine.generate([ask("n")]))
    list(engine.generate([ask("m"), ask("n", "again")]))
    assert log == ["open n", "close n", "open m"]


def test_template_arguments_make_another_model(engine, log):
    list(engine.generate([ask("m", template_args={"enable_thinking": x}) for x in (False, True, False)]))
    assert log == ["open m", "close m", "open m"]


def test_closes_when_the_work_fails(log):
    with pytest.raises(RuntimeError), OnDemand(lambda model: Recorded(model, log)) as engine:
        next(engine.generate([ask("m")]))
        raise RuntimeError
    assert log == ["open m", "close m"]


def test_importing_the_engines_loads_no_model_library():
    import subprocess

    code = "import judges.engines, sys; print({'torch', 'vllm', 'transformers'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
