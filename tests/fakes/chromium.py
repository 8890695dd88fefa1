"""A real Chromium without a window, spoken to over its DevTools protocol; no fake, but shared like them."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

from websockets.sync.client import connect

PROGRAM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


class Page:
    """One tab: what it is told, what it answers, and all that it complained about or asked the network for."""

    def __init__(self, address):
        self._held = ExitStack()
        self._socket = self._held.enter_context(connect(address, max_size=None, open_timeout=30))
        self._numbers = itertools.count(1)
        self.complaints, self.requests = [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        """Sends one command and returns its result; what happens meanwhile is noted."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (said := json.loads(self._socket.recv(timeout=60))).get("id") != number:
            self._note(said)
        if "error" in said:
            raise RuntimeError(f"{method}: {said['error']}")
        return said["result"]

    def _note(self, said):
        method, params = said.get("method"), said.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(params["args"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(params)
            self._socket.send(
                json.dumps({"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": False}})
            )

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded."""
        self.complaints.clear()
        self.requests.clear()
        # A change of the fragment alone would load nothing.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=Path(path).resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")

    def run(self, expression):
        """The value of an expression, awaited."""
        told = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(str(told["exceptionDetails"]))
        return told["result"].get("value")

    def wait(self, expression, seconds=30):
        """Returns once the expression is true."""
        end = time.monotonic() + seconds
        while not self._is(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} never came true; complaints: {self.complaints}")
            time.sleep(0.02)

    def _is(self, expression):
        try:
            return self.run(expression)
        except RuntimeError:  # A page that is being left, or not yet all there, answers nothing.
            return False

    def press(self, key):
        """One key, pressed and let go."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def size(self, width, height, *, dark=False):
        """The size of the window, and whether its owner likes it dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path):
        """A screenshot as a .png."""
        Path(path).write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        """Lets go of the tab."""
        self._held.close()


class Chromium:
    """The browser's process; ended with it."""

    def __init__(self):
        self._home = TemporaryDirectory(ignore_cleanup_errors=True)
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            [PROGRAM, "--headless=new", *root, "--remote-debugging-port=0", f"--user-data-dir={self._home.name}",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-extensions", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self._home.name},
        )  # fmt: skip
        self._port = self._wait_for_port(Path(self._home.name) / "DevToolsActivePort")

    def _wait_for_port(self, note, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._process.poll() is None:
            if note.is_file() and (lines := note.read_text().splitlines()):
                return int(lines[0])
            time.sleep(0.05)
        self.close()
        raise RuntimeError("Chromium did not start")

    def page(self):
        """A new tab."""
        asked = Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urlopen(asked, timeout=30) as reply:
            return Page(json.load(reply)["webSocketDebuggerUrl"])

    def close(self):
        """Ends the browser."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()
