"""Sees to it that an engine's own processes never outlive ours, even when ours is killed outright.

A small process waits on a pipe that only we hold open. When the pipe breaks, we are gone, and it kills every process
that carries our mark in its environment.
"""

import os
import subprocess
import sys
import uuid

_MARK = "VOIRDIRE_ENGINE"
_WATCH = """
import os, signal, sys, time
mark = sys.argv[1].encode()
sys.stdin.read()
while True:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in open(f"/proc/{pid}/environ", "rb").read().split(b"\\0"):
                found.append(int(pid))
        except OSError:
            pass
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if not found:
        break
    time.sleep(0.05)
"""


class Watch:
    """Ends, with us, all processes started between its start and `marked`'s end that inherit our environment."""

    def __init__(self) -> None:
        mark = uuid.uuid4().hex
        self._watcher = subprocess.Popen(
            [sys.executable, "-S", "-c", _WATCH, f"{_MARK}={mark}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C must not end it before us.
        )
        os.environ[_MARK] = mark  # From here on, for the processes that the engine starts.

    def close(self) -> None:
        """Kills what is left of the marked processes and waits until they have ended."""
        os.environ.pop(_MARK, None)
        if self._watcher.stdin:
            self._watcher.stdin.close()
        self._watcher.wait()
