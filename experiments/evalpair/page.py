"""A local page on which one person reviews cases: served to this machine alone, saved after every answer."""

import json
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

Save = Callable[[str, Mapping[str, str]], None]
"""Stores what was said of a case."""
ANSWERS = ("yes", "no", "unclear")
_LARGEST = 100_000
_POLICY = "default-src 'none'; connect-src 'self'; img-src data:; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_OTHER = {"yes": "no", "no": "yes", "unclear": "unclear", "": ""}


class Board:
    """The cases of a queue, and what one person has said of them so far.

    The page asks whether an answer adopts the false claim; only then is the automatic label shown, and whether that is
    right follows from both.
    """

    def __init__(
        self,
        cases: Sequence[Mapping[str, Any]],
        adopted: Mapping[str, bool],
        said: Mapping[str, Mapping[str, str]],
        save: Save,
    ) -> None:
        self._cases = list(cases)
        self._adopted = adopted
        self._said = {case: dict(row) for case, row in said.items()}
        self._save = save
        self._lock = threading.Lock()

    def state(self) -> dict[str, Any]:
        """All cases and what was said of them; the label of one only where the person has spoken first."""
        said = {case: self._shown(case) for case in self._said}
        return {"cases": self._cases, "said": said, "labels": {c: self._label(c) for c in said if said[c]["adopts"]}}

    def answer(self, given: Mapping[str, Any]) -> str:
        """Takes what was said of one case, saves it, and returns the automatic label, which may now be seen.

        Raises:
            ValueError: it is no answer to a case of this queue.
        """
        name = str(given.get("case"))
        if name not in {case["case"] for case in self._cases}:
            raise ValueError(f"no case {name!r} in this queue")
        adopts, judge_ok, comment = (str(given.get(key, "")) for key in ("adopts", "judge_ok", "comment"))
        if {adopts, judge_ok} - {"", *ANSWERS} or len(comment) > 5000:
            raise ValueError(f"an answer is one of {', '.join(ANSWERS)}; a comment has 5,000 characters at most")
        label_ok = adopts if self._adopted[name] else _OTHER[adopts]
        row = {"label_ok": label_ok, "judge_ok": judge_ok, "comment": comment}
        with self._lock:
            self._save(name, row)
            self._said[name] = row
        return self._label(name) if adopts else ""

    def _shown(self, case: str) -> dict[str, str]:
        row = self._said[case]
        adopts = row["label_ok"] if self._adopted[case] else _OTHER[row["label_ok"]]
        return {"adopts": adopts, "judge_ok": row["judge_ok"], "comment": row["comment"]}

    def _label(self, case: str) -> str:
        return "adopts the false claim" if self._adopted[case] else "does not adopt the false claim"


def serve(board: Board, port: int) -> tuple[ThreadingHTTPServer, str]:
    """A server on the loopback interface, not yet running, and the address of its page.

    The address holds a secret, so that no page of another origin can read or write a review.
    """
    key = secrets.token_urlsafe(16)
    server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, board, key))
    return server, f"http://127.0.0.1:{server.server_address[1]}/{key}/"


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, board: Board, key: str, *given: Any) -> None:
        self._board, self._key = board, key
        super().__init__(*given)

    def do_GET(self) -> None:
        if self.path == f"/{self._key}/":
            page = (files("experiments.evalpair") / "review.html").read_text(encoding="utf-8")
            self._reply(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())
        elif self.path == f"/{self._key}/state":
            self._json(HTTPStatus.OK, self._board.state())
        else:
            self._json(HTTPStatus.NOT_FOUND, {"error": "there is nothing here"})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != f"/{self._key}/answer" or length > _LARGEST:
            self._json(HTTPStatus.NOT_FOUND, {"error": "there is nothing here"})
            return
        try:
            given = json.loads(self.rfile.read(length))
            label = self._board.answer(given if isinstance(given, dict) else {})
        except ValueError as error:
            self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        except OSError as error:
            self._json(HTTPStatus.INSUFFICIENT_STORAGE, {"error": f"not saved: {error.strerror}"})
        else:
            self._json(HTTPStatus.OK, {"label": label})

    def _json(self, status: HTTPStatus, content: Mapping[str, Any]) -> None:
        self._reply(status, "application/json; charset=utf-8", json.dumps(content).encode())

    def _reply(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal is the reviewer's."""
