"""What each study asks, which document it follows, and how to cite a measurement."""

from collections.abc import Mapping, Sequence

from experiments.runs import Run

QUESTIONS: Mapping[str, str] = {
    "trust": "Is a verdict reproducible when asked for again, invariant when the answers change places, and right?",
    "judgebench": "How often does the judge name the better answer, when both orders have a say?",
    "swapref": "Does the judge follow the reference that it is given, even where it contradicts what it knows?",
    "refsense": "Is the judge too generous where it sees no reference answer?",
    "evalpair": "Does a judge find an induced error less often in the answers of its own model, or family?",
    "confidence": "How much is a verdict worth: which signals tell right verdicts from wrong ones?",
    "serving": "Does the verdict depend on how the same greedy request is served?",
}
PAPERS: Mapping[str, str] = {
    "trust": "a digest titled “Paper audits LLM judge reliability: repeated agreement does not equal correctness”",
    "judgebench": "JudgeBench: A Benchmark for Evaluating LLM-based Judges (Tan et al., 2024, arXiv:2410.12784)",
    "swapref": "Judging Against the Reference: Uncovering Knowledge-Driven Failures in LLM-Judges on QA Evaluation "
    "(arXiv:2601.07506)",
    "refsense": "LLM Judges Can Be Too Generous When There Is No Reference Answer (arXiv:2607.12885)",
    "evalpair": "Eval-Pair Matrix: Answer-Paired Meta-Evaluation of LLM Judges for Grounded RAG",
}
PARALLEL = 6
"""Names that a sentence can hold."""


def sentence(study: str, runs: Sequence[Run], note: str) -> str:
    """A sentence for a methods section; `note` says which rule and which intervals."""
    judges = list(dict.fromkeys(judge for run in runs for judge in run.judges))
    datasets = list(dict.fromkeys(run.data for run in runs))
    when = sorted(str(run.manifest["ended"])[:10] for run in runs if run.manifest.get("ended"))
    dates = f" ({when[0]} to {when[-1]})" if when and when[0] != when[-1] else (f" ({when[0]})" if when else "")
    return (
        f"We audited {_listed(judges, 'judges')} on {_listed(datasets, 'data sets')} with the study {study} of "
        f"{version(runs)}{dates}. {note}"
    )


def bibtex(study: str, runs: Sequence[Run]) -> str:
    """An entry for the software that measured."""
    commits = dict.fromkeys(git["commit"] for run in runs if (git := run.manifest.get("git")))
    told = f"study {study}" + (f", commit {', '.join(commits)}" if commits else "")
    years = sorted(str(run.manifest["ended"])[:4] for run in runs if run.manifest.get("ended"))
    fields = {"title": "{voirdire: audits of LLM judges}", "version": f"{{{number(runs)}}}", "note": f"{{{told}}}"}
    if years:
        fields["year"] = f"{{{years[-1]}}}"
    return "@software{voirdire,\n" + ",\n".join(f"  {k} = {v}" for k, v in fields.items()) + "\n}"


def version(runs: Sequence[Run]) -> str:
    """The software and its version."""
    return f"voirdire {number(runs)}"


def number(runs: Sequence[Run]) -> str:
    """The versions that made the runs, or that of the code that reads them."""
    from importlib.metadata import version as installed

    found = dict.fromkeys(v for run in runs if (v := run.manifest.get("versions", {}).get("voirdire")))
    return ", ".join(found) or installed("voirdire")


def _listed(names: Sequence[str], what: str) -> str:
    return ", ".join(names) if len(names) <= PARALLEL else f"{len(names)} {what}"
