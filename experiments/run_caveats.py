"""What a reader should know before believing a study's numbers, found from the manifests of its runs."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from experiments.caveats import Caveat
from experiments.manifest import caveats as of_calls
from experiments.runs import Run

Check = Callable[[Sequence[Run]], Iterator[Caveat]]


def of_runs(runs: Sequence[Run]) -> list[Caveat]:
    """What the manifests of a study's runs show."""
    return [caveat for check in CHECKS for caveat in check(runs)]


def unrecorded(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Verdicts without a manifest."""
    if found := [_name(run) for run in runs if not run.manifest]:
        yield Caveat(
            "no_manifest",
            "No manifest lies beside these verdicts: they were made elsewhere, and how (model revision, engine, "
            "templates, seeds) is not recorded here.",
            tuple(found),
        )


def wordless(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Verdicts that name no calls, so that the judge's words cannot be shown."""
    if found := [_name(run) for run in runs if "requests" in run.verdicts and (run.verdicts["requests"] == "").all()]:
        yield Caveat("no_text", "The judge's words behind these verdicts are not in the store.", tuple(found))


def scripted(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Answers of a script in place of a model."""
    found = [_name(run) for run in runs if any(e.startswith("scripted") for e in _engines(run))]
    if found:
        yield Caveat(
            "scripted", "A script answered in place of a model: these numbers say nothing of any model.", tuple(found)
        )


def one_judge(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Nobody to compare with."""
    judges = {judge for run in runs for judge in run.judges}
    if len(judges) == 1:
        yield Caveat("one_judge", f"Only one judge was asked, {judges.pop()}: nothing here tells it from other judges.")


def mixed_engines(runs: Sequence[Run]) -> Iterator[Caveat]:
    """One kind of engine in several versions, or several engines behind one run."""
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for run in runs:
        for engine in _engines(run):
            kind, _, rest = engine.partition(" ")
            if found := re.match(r"v?\d[\w.+-]*", rest):
                versions[kind].add(found[0])
    several = [f"{kind} {', '.join(sorted(v))}" for kind, v in sorted(versions.items()) if len(v) > 1]
    if several:
        yield Caveat("mixed_versions", f"Engines of several versions answered: {'; '.join(several)}.")
    mixed = [f"{_name(run)}: {', '.join(_engines(run))}" for run in runs if run.study != "serving" and _several(run)]
    if mixed:
        yield Caveat(
            "mixed_engines", "More than one engine, or one set up in several ways, answered in one run.", tuple(mixed)
        )


def resumed(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Runs that went on in other batches, without batch invariance, and what else their manifests warn of."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for run in runs:
        calls = run.manifest.get("calls", {})
        said = of_calls(calls) if run.study != "serving" and {"asked_now", "from_store"} <= calls.keys() else []
        for text in [s for s in said if s.startswith("resumed")]:
            found["Resumed: earlier calls were answered in other batches, which alone can change a verdict."].append(
                f"{_name(run)} ({text.split(': ')[1].split(' calls')[0]} of {calls['total']} calls)"
            )
        for text in run.manifest.get("caveats", ()) if run.study == "serving" else ():
            found[text].append(_name(run))
    for says, where in found.items():
        yield Caveat("resumed", says, tuple(where))


def changed_code(runs: Sequence[Run]) -> Iterator[Caveat]:
    """Runs of code that no commit holds."""
    if found := [_name(run) for run in runs if (run.manifest.get("git") or {}).get("changed")]:
        yield Caveat(
            "changed_code",
            "The code had changes that its commit does not hold: it can't be had again from there.",
            tuple(found),
        )


CHECKS: tuple[Check, ...] = (unrecorded, wordless, scripted, one_judge, mixed_engines, resumed, changed_code)


def _name(run: Run) -> str:
    return f"{', '.join(run.judges)} on {run.data}"


def _engines(run: Run) -> list[str]:
    return list(run.manifest.get("calls", {}).get("engines", {}))


def _several(run: Run) -> bool:
    return len(_engines(run)) > len(run.judges) + len(_roles(run))


def _roles(run: Run) -> Sequence[object]:
    """Models beside the judges that a staged study asks."""
    model = run.manifest.get("model", {})
    return [m for role, models in model.items() if role != "judge" and isinstance(models, list) for m in models]
