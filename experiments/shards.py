"""The part of a study's calls that this process asks for."""

from experiments.settings import Settings
from judges.ask import Engine, Shared
from judges.shares import Share


def shared(engine: Engine, settings: Settings, *, more: bool = False) -> Engine:
    """The engine, asked only for the calls of `shard`, if one is set.

    Args:
        engine: that serves the study.
        settings: of the study.
        more: the study has several steps, so that it is worth waiting for what others ask.
    """
    return Shared(engine, Share.parse(settings.shard), more) if settings.shard else engine
