"""The providers' batch services, played by a server on loopback."""

import json
import re

import pytest
from fake_endpoint import chat, endpoint, said

from judges.engines import ApiSettings, Budget, Endpoint, Placement, open_engine
from judges.records import Message, ModelSpec, Request, Sampling, UserError

KEY = "sk-planted-0123456789abcdef"


class OpenAiBatches:
    """Files and batches as OpenAI has them; a batch is done at the second look."""

    model = "m"
    dialect = "openai"

    def __init__(self):
        self.files, self.batches, self.looks = {}, {}, {}

    def base(self, url):
        return url

    def __call__(self, call):
        path = call.path.removeprefix("/v1")
        if path == "/files":
            content = re.search(rb"\r\n\r\n(\{.*?\})\n?\r\n--", call.raw, re.S)[1]
            self.files[f"file-{len(self.files)}"] = [json.loads(line) for line in content.splitlines()]
            return {"id": f"file-{len(self.files) - 1}", "object": "file"}
        if path == "/batches":
            name = f"batch-{len(self.batches)}"
            self.batches[name] = call.body["input_file_id"]
            return self.state(name, "validating")
        if found := re.fullmatch(r"/batches/([\w-]+)", path):
            self.looks[found[1]] = self.looks.get(found[1], 0) + 1
            return self.state(found[1], "completed" if self.looks[found[1]] > 1 else "in_progress")
        found = re.fullmatch(r"/files/(out|err)-([\w-]+)/content", path)
        lines = [self.line(entry) for entry in self.files[self.batches[found[2]]]]
        wanted = [line for line in lines if line and (line["response"]["status_code"] == 200) == (found[1] == "out")]
        return 200, b"\n".join(json.dumps(line).encode() for line in wanted)

    def state(self, name, status):
        done = status == "completed"
        return {
            "id": name,
            "object": "batch",
            "status": status,
            "output_file_id": f"out-{name}" if done else None,
            "error_file_id": f"err-{name}" if done else None,
        }

    def line(self, entry):
        assert entry["body"]["max_completion_tokens"] == 8 and entry["url"] == "/v1/chat/completions"
        text = entry["body"]["messages"][-1]["content"]
        if text == "lost":
            return None
        body = {"error": {"message": "flagged", "code": "content_policy_violation"}} if text == "bad" else chat("A")
        response = {"status_code": 400 if text == "bad" else 200, "body": body}
        return {"custom_id": entry["custom_id"], "response": response, "error": None}

    @property
    def submitted(self):
        return [line["body"]["messages"][-1]["content"] for lines in self.files.values() for line in lines]


class AnthropicBatches:
    """Message batches as Anthropic has them."""

    model = "claude-x"
    dialect = "anthropic"

    def __init__(self):
        self.batches, self.looks = {}, {}

    def base(self, url):
        self.url = url
        return url.removesuffix("/v1")

    def __call__(self, call):
        path = call.path.partition("?")[0].removeprefix("/v1/messages/batches")
        if not path:
            name = f"msgbatch_{len(self.batches)}"
            self.batches[name] = call.body["requests"]
            return self.state(name, "in_progress")
        name = path.split("/")[1]
        if not path.endswith("/results"):
            self.looks[name] = self.looks.get(name, 0) + 1
            return self.state(name, "ended" if self.looks[name] > 1 else "in_progress")
        lines = [{"custom_id": r["custom_id"], "result": self.result(r["params"])} for r in self.batches[name]]
        return 200, b"\n".join(json.dumps(line).encode() for line in lines)

    def state(self, name, status):
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": status,
            "results_url": f"{self.url}/messages/batches/{name}/results",
        }

    def result(self, params):
        assert params["temperature"] == 0 and params["max_tokens"] == 8
        text = params["messages"][-1]["content"]
        if text == "lost":
            return {"type": "expired"}
        if text == "bad":
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "content policy"}}
            return {"type": "errored", "error": error}
        return {"type": "succeeded", "message": said("A")}

    @property
    def submitted(self):
        return [r["params"]["messages"][-1]["content"] for found in self.batches.values() for r in found]


SERVICES = pytest.mark.parametrize("service", [OpenAiBatches, AnthropicBatches])


def opened(server, service, folder, requests, budget=None):
    place = Placement("m", endpoint=Endpoint(service.dialect, service.base(server.url), "TEST_KEY"))
    settings = ApiSettings(batch=True, batch_poll_s=0.02, batch_folder=str(folder))
    return open_engine(requests[0].model, place, settings, budget)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


def ask(service, *texts):
    return [Request(ModelSpec(service.model, ""), (Message("user", text),), Sampling(8)) for text in texts]


def by_text(pairs):
    return {request.messages[-1].content: completion for request, completion in pairs}


@SERVICES
def test_every_call_of_a_batch_comes_back(service, tmp_path):
    requests = ask(service := service(), "one", "two", "bad", "lost")
    with endpoint(service) as server:
        found = by_text(opened(server, service, tmp_path / "notes", requests).generate(requests))
    assert {text: c.outcome for text, c in found.items()} == {
        "one": "ok", "two": "ok", "bad": "refused", "lost": "error",
    }  # fmt: skip
    assert found["one"].text == "A" and found["one"].prompt_tokens == 10
    assert "ended without this call" in found["lost"].note
    assert sorted(service.submitted) == ["bad", "lost", "one", "two"]
    assert list((tmp_path / "notes").iterdir()) == []


@SERVICES
def test_a_batch_under_way_is_taken_up_and_not_made_again(service, tmp_path):
    requests = ask(service := service(), "one", "two")
    with endpoint(service) as server:
        listening = opened(server, service, tmp_path, requests).generate(requests)
        next(listening)  # One result is taken, then we are gone: the note is still there.
        listening.close()
        [note] = tmp_path.glob("*.json")
        assert KEY not in note.read_text()
        more = requests + ask(service, "three")
        found = by_text(opened(server, service, tmp_path, more).generate(more))
    assert set(found) == {"one", "two", "three"}
    assert sorted(service.submitted) == ["one", "three", "two"]


@SERVICES
def test_results_that_nobody_asks_for_this_time_are_kept_for_the_next(service, tmp_path):
    requests = ask(service := service(), "one", "two", "three")
    with endpoint(service) as server:
        listening = opened(server, service, tmp_path, requests).generate(requests)
        next(listening)
        listening.close()
        found = by_text(opened(server, service, tmp_path, requests).generate(requests[:1]))
        [note] = tmp_path.iterdir()
        assert json.loads(note.read_text())["keys"] == [r.key for r in requests[1:]]
        found |= by_text(opened(server, service, tmp_path, requests).generate(requests[1:]))
    assert {text: c.outcome for text, c in found.items()} == dict.fromkeys(("one", "two", "three"), "ok")
    assert sorted(service.submitted) == ["one", "three", "two"] and list(tmp_path.iterdir()) == []


@SERVICES
def test_notes_of_others_and_what_is_no_note_are_left_alone(service, tmp_path):
    (tmp_path / "elsewhere.json").write_text(json.dumps({"batch": "b", "base_url": "https://other", "keys": ["k"]}))
    (tmp_path / "torn.json").write_text('{"batch": "b", "ba')
    requests = ask(service := service(), "one")
    with endpoint(service) as server:
        assert len(list(opened(server, service, tmp_path, requests).generate(requests))) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["elsewhere.json", "torn.json"]


@SERVICES
def test_a_budget_bounds_a_batch(service, tmp_path):
    requests = ask(service := service(), "one", "two", "three")
    with endpoint(service) as server, pytest.raises(UserError, match=r"budget\.calls=2 is used up"):
        list(opened(server, service, tmp_path, requests, Budget(calls=2)).generate(requests))
    assert service.submitted == ["one", "two"]


@SERVICES
def test_a_service_that_refuses_stops_the_judge_without_its_key(service, tmp_path):
    requests = ask(service := service(), "one")
    with endpoint(lambda call: (401, {"error": {"type": "authentication_error", "message": f"bad {KEY}"}})) as server:
        service.base(server.url)
        with pytest.raises(UserError, match="batch service at http://127") as stopped:
            list(opened(server, service, tmp_path, requests).generate(requests))
    assert KEY not in str(stopped.value) and list(tmp_path.iterdir()) == []
