"""A server on loopback that answers chat calls as a test wants it to, for good or ill."""

import asyncio
import json
import threading
from collections import Counter
from contextlib import contextmanager


class Call:
    """One request that came in."""

    def __init__(self, number, method, path, headers, body):
        self.number, self.method, self.path, self.headers, self.raw = number, method, path, headers, body

    @property
    def body(self):
        return json.loads(self.raw)

    @property
    def asked(self):
        """What the last message says: tests tell calls apart by it."""
        return self.body["messages"][-1]["content"]


class Fake:
    """Answers by an async function of a call: a dict, (status, body), (status, body, headers), or RAW bytes."""

    def __init__(self, answer):
        self._answer = answer
        self.calls = []
        self.under_way = self.most_under_way = 0
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._started.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def asked(self):
        """How often each text was asked."""
        return Counter(call.asked for call in self.calls if call.method == "POST" and b'"messages"' in call.raw)

    def close(self):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        for task in (tasks := asyncio.all_tasks(self._loop)):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self):
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader, writer):
        try:
            while line := await reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                headers = {}
                while (line := await reader.readline()).strip():
                    name, _, value = line.decode().partition(":")
                    headers[name.strip().lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                call = Call(len(self.calls), method, path, headers, body)
                self.calls.append(call)
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                try:
                    found = self._answer(call)
                    found = await found if asyncio.iscoroutine(found) else found
                finally:
                    self.under_way -= 1
                if not await self._write(writer, found):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _write(self, writer, found):
        """Whether the connection stays open."""
        if callable(found):
            await found(writer)
            return False
        status, body, headers = (*found, {})[:3] if isinstance(found, tuple) else (200, found, {})
        kind = "text/html" if isinstance(body, bytes) else "application/json"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
        return True


@contextmanager
def endpoint(answer):
    """A running server."""
    server = Fake(answer)
    try:
        yield server
    finally:
        server.close()


def chat(text, model="m", finish="stop", usage=(10, 0, 1), **message):
    """A chat completion as OpenAI writes one."""
    prompt, cached, completion = usage
    return {
        "id": "c",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def said(text, model="claude-x", stop="end_turn", thinking=None, usage=(10, 0, 0, 1)):
    """A message as Anthropic writes one."""
    blocks = [{"type": "thinking", "thinking": thinking, "signature": "s"}] if thinking else []
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [*blocks, {"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": dict(zip(names, usage, strict=True)),
    }


def refuses(message, status=400, code=None, **headers):
    """An error as OpenAI writes one."""
    return status, {"error": {"message": message, "type": "invalid_request_error", "code": code}}, headers
