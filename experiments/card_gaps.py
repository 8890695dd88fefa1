"""What a card has no number for, why, and the command that would find it."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.confidence import SIGNALS
from experiments import provenance
from experiments.card_record import Number, Untested
from experiments.card_topics import TOPICS, Topic
from experiments.complaints import choices
from experiments.configuration import conf_folder
from experiments.plans import plans
from experiments.runs import Run
from experiments.settings import label

OWN = ("judge", "engine")
"""Words of a command that say who is asked, beside those that begin with `model.` and `engine.`."""


def gaps(judge: str, runs: Sequence[Run], found: Sequence[Number], root: Path) -> Iterator[Untested]:
    """Topics without a run, metrics without a value, runs that are planned and not finished.

    Args:
        judge: its name.
        runs: those in which it took part.
        found: the card's numbers.
        root: where the runs are.
    """
    who = asked_as(judge, runs)
    wordless = any(run.manifest.get("settings", {}).get("engine", {}).get("kind") == "reward" for run in runs)
    for topic in TOPICS:
        own = [number for number in found if number.topic == topic.name]
        if wordless and not topic.wordless:
            yield _untested(topic, ", ".join(topic.metrics), "a reward model scores answers and writes nothing", "")
            continue
        command = f"python -m experiments {topic.command.format(who=who, name=shlex.quote(judge))}"
        command += _under(root)
        yield from _signals(topic, own, command, wordless) if topic.name == "confidence" and own else ()
        if lacking := [m for m in topic.metrics if not any(n.metric == m and n.value is not None for n in own)]:
            there = any(run.study == topic.study for run in runs)
            yield _untested(topic, ", ".join(lacking), _why(topic, own, lacking, there), command)
    yield from _unfinished(judge, root)


def asked_as(judge: str, runs: Sequence[Run]) -> str:
    """The words of a command that ask this judge: as a run has asked it alone, or by its YAML.

    `judge=NAME`, or `judge=scripted model.name=NAME engine.script=first`.
    """
    by_name = f"judge={shlex.quote(judge)}"
    if judge.startswith("scripted:"):
        return f"judge=scripted model.name={shlex.quote(judge)} model.script={judge.partition(':')[2]}"
    if judge in choices(conf_folder(), "judge"):
        return by_name
    for run in runs:
        if run.judges == (judge,) and run.manifest:
            words = [w for w in shlex.split(provenance.command(run)) if _tells_who(w)]
            if f"model.name={judge}" in words or any(w.startswith("judge=") and "," not in w for w in words):
                return shlex.join(words)
    return by_name


def _under(root: Path) -> str:
    """The word that says where runs are, unless they are where they are by default, or in a place of this machine."""
    return "" if root.is_absolute() or root == Path("runs") else f" root={shlex.quote(str(root))}"


def _tells_who(word: str) -> bool:
    key = word.partition("=")[0]
    return key in OWN or key.startswith(("model.", "engine."))


def _why(topic: Topic, own: Sequence[Number], lacking: Sequence[str], there: bool) -> str:
    """The reasons that the numbers themselves give, else that there is no run."""
    notes = dict.fromkeys(n.note.removeprefix("undefined: ") for n in own if n.metric in lacking and n.note)
    if notes:
        return "; ".join(notes)
    if there:
        return topic.needs
    return f"no run of {topic.study} with this judge"


def _signals(topic: Topic, own: Sequence[Number], command: str, wordless: bool) -> Iterator[Untested]:
    """Signals of confidence that no run has recorded."""
    there = {number.slice for number in own if number.value is not None}
    for name, signal in SIGNALS.items():
        if name not in there and (name == "reward_margin") <= wordless:
            yield _untested(topic, f"auroc of {name}", f"needs {signal.needs}", command)


def _unfinished(judge: str, root: Path) -> Iterator[Untested]:
    for plan in plans(root):
        if plan.judge == label(judge) and not plan.tabulated:
            yield Untested(
                topic="unfinished",
                study=plan.study,
                what=f"{plan.study} on {plan.data}",
                why=f"{len(plan.keys):,} calls are planned, and there are no tables of them",
                command=f"python -m experiments.status{_under(root)}",
            )


def _untested(topic: Topic, what: str, why: str, command: str) -> Untested:
    return Untested(topic=topic.name, study=topic.study, what=what, why=why, command=command)
