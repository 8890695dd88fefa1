"""Says in a sentence what was wrong with a configuration, and names the nearest right key or choice."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from pydantic import ValidationError


def of_hydra(error: HydraException, conf: Path, overrides: Iterable[str]) -> str:
    """What Hydra complains of, with the nearest right name where a name was wrong."""
    text = str(error)
    if group := re.search(r"Could not find '([^'/]+)/([^']+)'", text):
        return f"no {group[1]} is called {group[2]!r}; {nearest(group[2], choices(conf, group[1]))}"
    if key := re.search(r"Could not override '([^']+)'", text):
        name = key[1].partition("@")[0]
        return f"there is no key {name!r}; {nearest(name, [*_groups(conf), *_keys(conf, overrides)])}"
    if ("override" in text and "parsing" in text) or "at input" in text:
        return f"can't read the command: {text.splitlines()[0]}; an override is KEY=VALUE, a list KEY=[a,b]"
    return text.splitlines()[0]


def of_validation(error: ValidationError) -> str:
    """What pydantic complains of, one line a key."""
    return "\n".join(_line(e) for e in error.errors())


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint: the closest of the known names, or all of them where none is close."""
    known = sorted(set(known))
    tail = {k.rpartition(".")[2]: k for k in known}
    close = get_close_matches(name, known, n=1) or [
        tail[k] for k in get_close_matches(name.rpartition(".")[2], tail, n=1)
    ]
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there are: {', '.join(known)}" if len(known) <= 40 else "--help lists what there is"


def choices(conf: Path, group: str) -> list[str]:
    """The choices of a configuration group."""
    return [path.relative_to(conf / group).with_suffix("").as_posix() for path in (conf / group).rglob("*.yaml")]


def _line(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"there is no key {where!r} in this configuration"
    if error["type"] == "value_error":
        return f"{where}: {error['msg'].removeprefix('Value error, ')}".removeprefix(": ")
    return f"{where}: {error['msg']}; got {error['input']!r}"


def _groups(conf: Path) -> list[str]:
    return [path.name for path in conf.iterdir() if path.is_dir() and path.name != "hydra"]


def _keys(conf: Path, overrides: Iterable[str]) -> Iterator[str]:
    """Dotted keys of the configuration that the command's own choices of groups compose."""
    chosen = [o for o in overrides if o.partition("=")[0] in _groups(conf) and "," not in o]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf), version_base="1.3"):
        try:
            config = compose("config", chosen)
        except HydraException:
            config = compose("config")
    return _flatten(OmegaConf.to_container(config))


def _flatten(node: Any, prefix: str = "") -> Iterator[str]:
    for key, value in node.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
