"""The verdict browser at full size: writing 240,000 verdicts with their words, and filtering 100,000 in Chromium."""

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

sys.path += [str(Path(__file__).parents[1] / "fakes")]

from experiments import browser
from experiments.runs import find
from judges.records import Completion, Message, ModelSpec, Request, Sampling
from judges.store import Store

TARGET_SECONDS, TARGET_GIB, TARGET_FILTER = 60, 3, 0.5
REASON = "The first answer carries the tens over, the second one forgets to, and so its sum is off. "
FORMS = {
    "direct": "{1}",
    "vf_json": '{{"verdict": "{1}", "reason": "{0}"}}',
    "vf_xml": "<verdict>{1}</verdict>\n<reason>{0}</reason>",
    "cot_json": '{{"reasoning": "{0}", "verdict": "{1}"}}',
    "cot_xml": "<reasoning>{0}</reasoning>\n<verdict>{1}</verdict>",
}


def verdicts(judges: int, items: int, repeats: int) -> pd.DataFrame:
    """Judges x formats (5) x items x orders x repeats."""
    levels = {"judge": judges, "item": items, "format": 5, "order": 2, "repeat": repeats}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    rng = np.random.default_rng(0)
    formats = np.array(list(FORMS))
    return table.assign(
        study="trust", dataset="data", method="pairwise", outcome="ok", winner=rng.choice(["A", "B"], len(table)),
        gold=np.where(table["item"] % 2, "A", "B"), order=np.where(table["order"], "BA", "AB"), temperature=0.0,
        judge=table["judge"].map("judge {}".format), item=table["item"].map("item-{:05d}".format),
        format=formats[table["format"]], p_first=rng.random(len(table)), label_mass=0.97,
    )  # fmt: skip


def saved(root: Path, table: pd.DataFrame, words: bool) -> None:
    """A run folder a judge, and the store behind them."""
    model = ModelSpec("model", "revision")
    for judge, rows in table.groupby("judge", sort=False):
        if words:
            requests = [Request(model, (Message("user", f"{i}"),), Sampling(8)) for i in rows.index]
            with Store(root / "store") as store:
                for request, form, winner in zip(requests, rows["format"], rows["winner"], strict=True):
                    text = FORMS[form].format(request.messages[0].content + REASON * 8, winner)
                    store.put(request, Completion(text, prompt_tokens=700, completion_tokens=200, engine="vllm 0.33.0"))
            rows = rows.assign(requests=[r.key for r in requests])
        folder = root / "trust/data" / str(judge).replace(" ", "_")
        folder.mkdir(parents=True)
        rows.to_parquet(folder / "verdicts.parquet")


def main() -> None:
    """Prints what was measured beside its target."""
    with TemporaryDirectory() as name:
        root = Path(name)
        saved(root, verdicts(judges=6, items=400, repeats=10), words=True)
        begun, cpu = time.perf_counter(), time.process_time()
        browser.write(find(root, "trust"), root, root / "report")
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        sizes = [p.stat().st_size / 2**20 for p in (root / "report/verdicts").iterdir()]
        print(f"240,000 verdicts with 800 characters each: {seconds:.1f} s (the whole report: <= {TARGET_SECONDS} s)")
        print(f"of it CPU time: {cpu:.1f} s (target: none set)")
        print(f"peak memory, the making of the runs included: {peak:.2f} GiB (the whole report: <= {TARGET_GIB} GiB)")
        print(f"{sum(sizes):.0f} MiB in {len(sizes)} files, the largest {max(sizes):.1f} MiB (target: none set)")
    with TemporaryDirectory() as name:
        root = Path(name)
        saved(root, verdicts(judges=5, items=200, repeats=10), words=False)
        browser.write(find(root, "trust"), root, root / "report")
        _filter(root / "report/verdicts.html")


def _filter(file: Path) -> None:
    import chromium

    if chromium.PROGRAM is None:
        print("first filter: Chromium is not installed")
        return
    driver = chromium.Chromium()
    try:
        page = driver.page()
        begun = time.perf_counter()
        page.open(file)
        page.wait("document.getElementById('count').textContent.startsWith('100,000 verdicts')")
        print(f"100,000 verdicts, opened: {time.perf_counter() - begun:.2f} s (target: none set)")
        for name in ("judge", "right", "format"):
            seconds = page.run(
                f"(async () => {{ const s = document.getElementById('filter-{name}'), t = performance.now();"
                "s.value = '1'; s.dispatchEvent(new Event('change'));"
                "await new Promise(done => requestAnimationFrame(() => setTimeout(done)));"
                "return (performance.now() - t) / 1000; })()"
            )
            print(f"100,000 verdicts, filter by {name}: {seconds:.3f} s (target <= {TARGET_FILTER} s)")
        page.close()
    finally:
        driver.close()


if __name__ == "__main__":
    main()
