"""The part of a study's calls that this process asks for: a shard, all, or none while a study is only looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from experiments.settings import Settings
from judges.ask import Engine, Pending, Shared
from judges.shares import Share

_LOOKING: ContextVar[bool] = ContextVar("looking", default=False)


@contextmanager
def looking() -> Iterator[None]:
    """Within it, studies ask nothing and write nothing: their metrics are of what is stored so far, and shown."""
    token = _LOOKING.set(True)
    try:
        yield
    finally:
        _LOOKING.reset(token)


def is_looking() -> bool:
    """Whether a study is only looked at."""
    return _LOOKING.get()


def shared(engine: Engine, settings: Settings, *, more: bool = False) -> Engine:
    """The engine, asked only for the calls of `shard`, if one is set.

    Args:
        engine: that serves the study.
        settings: of the study.
        more: the study has several steps, so that it is worth waiting for what others ask.
    """
    if is_looking():
        return Pending()
    return Shared(engine, Share.parse(settings.shard), more) if settings.shard else engine
