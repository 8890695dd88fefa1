"""What a script replies to the steps on grounded questions: plain rules in place of a model, for dry runs.

The perturber replaces one value in every passage that holds it; the generator repeats the first passage; the labeller
looks for the two values in the answer; the judge flags whatever the passages do not say word for word. With all roles
scripted every matrix is perfect, whatever was perturbed.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from judges.records import Request

Truths = Mapping[str, Mapping[str, Any]]
"""From a question to what can be changed about it: kind, original, replacement, claim, false_claim, edits."""

_PASSAGE = re.compile(r'<passage id="([^"]*)">\n(.*?)\n</passage>', re.S)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_BETWEEN = {
    "question": re.compile(r"<question>\n(.*?)\n</question>", re.S),
    "answer": re.compile(r"<answer>\n(.*?)\n</answer>\n", re.S),
    "old": re.compile(r"^old value: (.*)$", re.M),
    "new": re.compile(r"^new value: (.*)$", re.M),
}


def grounded_reply(request: Request) -> str | None:
    """The reply to a step on passages; None where the request is none."""
    content = request.messages[-1].content
    last = content[content.rindex("Reply with\n") :] if "Reply with\n" in content else ""
    step = next((make for sign, make in _STEPS if sign in last), None)
    if step is None:
        return None
    return json.dumps(step(content), ensure_ascii=False)


@lru_cache(maxsize=1)
def demo_truths() -> Truths:
    """What can be changed about the questions of `grounded_demo`."""
    folder = files("judges") / "data"
    known, records = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("grounded_demo_truth.jsonl", "grounded_demo.jsonl")
    )
    questions = {record["sample_id"]: record["question"] for record in records}
    return {questions[truth["sample_id"]]: truth for truth in known}


def _between(content: str, name: str) -> str:
    found = _BETWEEN[name].search(content)
    return found[1] if found else ""


def _perturb(content: str) -> dict[str, object]:
    passages, answer = _PASSAGE.findall(content), _between(content, "answer")
    known = demo_truths().get(_between(content, "question")) or _number(answer, [text for _, text in passages])
    rewrites = [(name, text, _replaced(text, known["edits"])) for name, text in passages]
    return {
        "perturbation_type": known["kind"],
        "original_value": known["original"],
        "perturbed_value": known["replacement"],
        "atomic_claim_original": known["claim"],
        "atomic_claim_perturbed": known["false_claim"],
        "note": "Scripted.",
        "passages": [
            {
                "passage_id": name,
                "rewritten_text": new if new != text else "",
                "skip_reason": "" if new != text else f"It does not say {known['original']!r}.",
            }
            for name, text, new in rewrites
        ],
    }


def _replaced(text: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        text = text.replace(old, new)
    return text


def _number(answer: str, texts: list[str]) -> dict[str, Any]:
    """The first number that answer and passages share goes up by one."""
    old = next((n for n in _NUMBER.findall(answer) if any(n in text for text in texts)), "")
    new = str(int(float(old.replace(",", ""))) + 1) if old else ""
    return {
        "kind": "numerical",
        "original": old,
        "replacement": new,
        "claim": f"The passages say {old}.",
        "false_claim": f"The passages say {new}.",
        "edits": {old: new} if old else {},
    }


def _validate(content: str) -> dict[str, object]:
    gates = ("type", "causality", "consistency", "leakage", "contradiction")
    return dict.fromkeys(gates, True) | {f"{gate}_evidence": "Scripted." for gate in gates}


def _generate(content: str) -> dict[str, object]:
    passages = _PASSAGE.findall(content)
    name, text = passages[0] if passages else ("", "")
    return {"answer": text, "cited_passage_ids": [name] if name else [], "is_refusal": not text, "notes": "Scripted."}


def _label(content: str) -> dict[str, object]:
    answer = _between(content, "answer").casefold()
    old, new = (_between(content, name).casefold() in answer for name in ("old", "new"))
    behaviour = {(True, True): "both_claims", (True, False): "memory_override", (False, True): "context_follow"}
    return {
        "rationale": "Scripted.",
        "behavior_label": behaviour.get((old, new), "unrelated" if answer else "refusal"),
        "entails_original_claim": old,
        "entails_perturbed_claim": new,
        "confidence": 100,
    }


def _judge(content: str) -> dict[str, object]:
    passages, answer = _PASSAGE.findall(content), _between(content, "answer")
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", answer) if s]
    wrong = next((s for s in sentences if not any(s in text for _, text in passages)), "")
    return {
        "explanation": "Scripted.",
        "contains_factual_error": bool(wrong),
        "wrong_claim": wrong,
        "supporting_passage_id": passages[0][0] if wrong and passages else "",
        "confidence": 100,
    }


_STEPS = (
    ('"perturbed_value"', _perturb),
    ('"causality"', _validate),
    ('"is_refusal"', _generate),
    ('"behavior_label"', _label),
    ('"contains_factual_error"', _judge),
)
"""The key that only this step's reply has, and what replies to it."""
