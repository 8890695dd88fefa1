"""How long an import of 100 MB of JSONL takes, for long judge texts and for short rows of a mapped table."""

import contextlib
import io
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.imports.__main__ import main as imports

TARGET_SECONDS = 10
SIZE = 100 * 2**20
MAP = """
columns: {item: id, judge: model, order: order, text: response, winner: verdict}
constants: {dataset: made, format: arena_hard}
values: {winner: {"1": A, "2": B, "0": tie}}
read: arena_hard
"""
WORDS = ("the", "answer", "derives", "each", "step", "and", "checks", "its", "units", "before", "it", "concludes")


def prose(rng: random.Random, words: int) -> str:
    """Words in random order."""
    return " ".join(rng.choices(WORDS, k=words))


def judgebench(rng: random.Random) -> Iterator[dict[str, object]]:
    """JudgeBench output rows: two texts of about 700 words a pair, with the prompts that they answered."""
    for i in range(10**9):
        decisions = rng.choices(["A>B", "B>A", "A=B"], k=2)
        yield {
            "pair_id": f"pair-{i}",
            "source": "mmlu-pro-law",
            "response_model": "gpt-4o-2024-05-13",
            "label": "A>B",
            "judge_name": "arena_hard",
            "judgments": [
                {
                    "judgment": {
                        "judge_model": "m",
                        "prompt": prose(rng, 300),
                        "response": f"{prose(rng, 700)} [[{d}]]",
                    },
                    "decision": d,
                }
                for d in decisions
            ],
        }


def short(rng: random.Random) -> Iterator[dict[str, object]]:
    """Rows of about 380 bytes of a table that a mapping describes."""
    for i in range(10**9):
        verdict = rng.choice(["A>B", "B>A", "A=B"])
        yield {
            "id": f"pair-{i}",
            "model": "m",
            "order": "AB",
            "response": f"{prose(rng, 50)} [[{verdict}]]",
            "verdict": {"A>B": "1", "B>A": "2", "A=B": "0"}[verdict],
        }


def fill(path: Path, rows: Iterator[dict[str, object]]) -> int:
    """Writes rows until the file has its size; returns how many."""
    count = 0
    with path.open("w") as file:
        while file.tell() < SIZE:
            count += file.write("".join(json.dumps(next(rows)) + "\n" for _ in range(100))) and 100
    return count


def measure(name: str, rows: Iterator[dict[str, object]], *options: str) -> None:
    """Prints what was measured beside its target."""
    with tempfile.TemporaryDirectory() as folder:
        file, mapping, out = (Path(folder) / n for n in ("rows.jsonl", "map.yaml", "verdicts.parquet"))
        mapping.write_text(MAP)
        count = fill(file, rows)
        options = (*options, "--map", str(mapping)) if name == "jsonl" else options
        start, cpu = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            status = imports([name, str(file), "--out", str(out), *options])
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert status == 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"import of 100 MB of {name}, {count:,} records: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time: {cpu:.1f} s (target: none set)")
    print(f"peak memory so far: {peak:.2f} GiB (target: none set)")


def main() -> None:
    """Long texts, then short rows."""
    measure("judgebench", judgebench(random.Random(0)))
    measure("jsonl", short(random.Random(0)))


if __name__ == "__main__":
    main()
