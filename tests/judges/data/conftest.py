import http.server
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field

import pytest


@dataclass
class Hub:
    """What a server on loopback, which answers as the hub does, was asked for and has."""

    files: dict[str, bytes]
    commit: str
    endpoint: str = ""
    asked: list[str] = field(default_factory=list)


def handler(hub):
    class Handler(http.server.BaseHTTPRequestHandler):
        """`resolve` with commit and ETag, by name or by commit; what files there are."""

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, body):
            hub.asked.append(self.path)
            if self.path.startswith("/api/datasets/"):
                return self.listing()
            revision, _, name = self.path.partition("/resolve/")[2].partition("/")
            content = hub.files.get(name) if revision in ("main", hub.commit) else None
            self.send_response(200 if content else 404)
            if content is None:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", hub.commit)
            self.send_header("ETag", f'"{name}"')
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if body and content:
                self.wfile.write(content)

        def listing(self):
            repo = self.path.removeprefix("/api/datasets/").partition("/revision/")[0]
            told = {"id": repo, "sha": hub.commit, "siblings": [{"rfilename": name} for name in hub.files]}
            content = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture
def hub():
    """Serves files of a data set at a commit (and as `main`)."""
    servers = []

    def serve(files, commit="0123456789abcdef0123456789abcdef01234567"):
        served = Hub(files, commit)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        served.endpoint = f"http://127.0.0.1:{server.server_port}"
        return served

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


PROGRAM = """
import json, sys
from judges.data import load
from judges.records import UserError
assert 'huggingface_hub' not in sys.modules
try:
    loaded = load(sys.argv[1])
    print(json.dumps([[i.id for i in loaded.items], loaded.provenance['files']]))
except UserError as error:
    print(json.dumps(str(error)))
"""


@pytest.fixture
def load_from_hub(tmp_path):
    """Ids and files of a data set without a path, or the error, in a process of its own: the hub's library reads the
    environment when it is imported."""

    def run(name, endpoint, **environment):
        environment = {
            **os.environ,
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(tmp_path / "hub"),
            "HF_HUB_ETAG_TIMEOUT": "3",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            **environment,
        }
        command = [sys.executable, "-c", PROGRAM, name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
