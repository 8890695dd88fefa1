"""Work that runs in an event loop of its own, handed on as a plain iterator."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class _End(Exception):
    """The work is done."""


def stream(work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """Yields what the work emits, as it does; raises what it raises, after all that it emitted before.

    Args:
        work: gets the function to emit by, and runs in a thread beside ours. Where the caller listens no longer, it is
            cancelled, and has ended before the iterator's `close` returns.
    """
    results: SimpleQueue[T | BaseException] = SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(results.put))

    def run() -> None:
        end: BaseException = _End()
        try:
            loop.run_until_complete(task)
        except BaseException as error:  # The caller is to hear of it, whatever it is.
            end = error
        finally:
            with contextlib.suppress(RuntimeError):
                loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
            results.put(end)

    thread = threading.Thread(target=run, name="api", daemon=True)
    thread.start()
    try:
        while not isinstance(result := results.get(), BaseException):
            yield result
        if not isinstance(result, _End):
            raise result
    finally:
        with contextlib.suppress(RuntimeError):  # The loop may be closed already.
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
