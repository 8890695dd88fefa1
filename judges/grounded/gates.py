"""What plain code can say about a perturbation: each check with its finding and the evidence for it.

Source: 003_79504d017c0b1582.txt, section 3.2 (deterministic leakage checks); the other checks are ours.
"""

from collections import Counter
from collections.abc import Sequence

from judges.grounded.records import KINDS, Asked, Gate, Perturbation
from judges.grounded.values import holds, share_changed

MOST_CHANGED = 0.5
"""A rewritten passage of which more than this share of characters changed is another text, not a rewrite (ours)."""

CODE_GATES = ("kind", "answer_value", "complete", "ids", "gone", "replaced", "unchanged", "scope")


def check(record: Asked, made: Perturbation) -> list[Gate]:
    """All checks of one perturbation, in the order of `CODE_GATES`."""
    shares = _shares(record, made)
    return [
        Gate(name, not fault, fault or (shares if name == "unchanged" else ""))
        for name, fault in (
            ("kind", _kind(made)),
            ("answer_value", _answer_value(record, made)),
            ("complete", _complete(record, made)),
            ("ids", _ids([p.id for p in record.passages], [r.id for r in made.rewrites])),
            ("gone", _gone(record, made)),
            ("replaced", _replaced(record, made)),
            ("unchanged", _unchanged(record, made)),
            ("scope", _scope(record, made)),
        )
    ]


def unknown_ids(known: Sequence[str], cited: Sequence[str]) -> list[str]:
    """Ids that name no passage."""
    return [i for i in dict.fromkeys(cited) if i not in set(known)]


def _kind(made: Perturbation) -> str:
    return "" if made.kind in KINDS else f"{made.kind!r} is none of {', '.join(KINDS)}"


def _answer_value(record: Asked, made: Perturbation) -> str:
    if holds(made.replacement, made.original) and holds(made.original, made.replacement):
        return f"{made.replacement!r} says the same as {made.original!r}"
    if not any(holds(p.text, made.original) for p in record.passages):
        return f"no passage says {made.original!r}"
    return "" if not record.answer or holds(record.answer, made.original) else (
        f"the answer that people gave does not say {made.original!r}"
    )  # fmt: skip


def _complete(record: Asked, made: Perturbation) -> str:
    told = Counter(r.id for r in made.rewrites)
    faults = []
    if missing := [p.id for p in record.passages if p.id not in told]:
        faults.append(f"not a word on passages {', '.join(missing)}")
    if twice := [i for i, n in told.items() if n > 1]:
        faults.append(f"passages {', '.join(twice)} come twice")
    if silent := [r.id for r in made.rewrites if not r.text and not r.skipped]:
        faults.append(f"passages {', '.join(silent)} are neither rewritten nor skipped with a reason")
    return "; ".join(faults)


def _ids(known: Sequence[str], named: Sequence[str]) -> str:
    invented = unknown_ids(known, named)
    return f"there are no passages {', '.join(invented)}" if invented else ""


def _gone(record: Asked, made: Perturbation) -> str:
    left = [p.id for p in made.applied(record.passages) if holds(p.text, made.original)]
    return f"{made.original!r} is still in passages {', '.join(left)}" if left else ""


def _replaced(record: Asked, made: Perturbation) -> str:
    changed = set(made.modified(record.passages))
    without = [p.id for p in made.applied(record.passages) if p.id in changed and not holds(p.text, made.replacement)]
    return f"{made.replacement!r} is not in the rewritten passages {', '.join(without)}" if without else ""


def _changed(record: Asked, made: Perturbation) -> dict[str, float]:
    """The share of characters changed of each passage that was rewritten."""
    pairs = zip(record.passages, made.applied(record.passages), strict=True)
    return {p.id: share_changed(p.text, q.text) for p, q in pairs if p.text != q.text}


def _shares(record: Asked, made: Perturbation) -> str:
    told = ", ".join(f"{i} {share:.0%}" for i, share in _changed(record, made).items())
    return f"characters changed: {told}" if told else ""


def _unchanged(record: Asked, made: Perturbation) -> str:
    far = [f"{i} ({share:.0%})" for i, share in _changed(record, made).items() if share > MOST_CHANGED]
    return f"more than {MOST_CHANGED:.0%} of the characters changed in passages {', '.join(far)}" if far else ""


def _scope(record: Asked, made: Perturbation) -> str:
    changed = set(made.modified(record.passages))
    if not changed:
        return "no passage was changed"
    silent = [p.id for p in record.passages if not holds(p.text, made.original)]
    if silent and len(changed) == len(record.passages):
        return f"every passage was rewritten, also {', '.join(silent)}, which never said {made.original!r}"
    return ""
