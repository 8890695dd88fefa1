"""The verdict browser, and the page of a report, in a real Chromium."""

import json
import subprocess
import sys
import time
from pathlib import Path

import chromium
import numpy as np
import pandas as pd
import pytest

from experiments import browser
from experiments.report import main
from experiments.runs import find

CHECKOUT = Path(__file__).parents[2]
HOSTILE = (
    '</script><script>window.hit="script"</script><img src=x onerror="window.hit=\'img\'">'
    '<svg onload="window.hit=1"></svg></textarea></div><iframe src="http://127.0.0.1:9/"></iframe>'
    '<a href="javascript:window.hit=2" style="position:fixed;inset:0">x</a>{{ 7*7 }}${window.hit=3}'
    "<style>*{display:none!important}</style>\\3c script\\3e \u2028\u202egnp.exe\u202c"
)
ARABIC = "أيهما أصح؟ الجواب هو الفيل."


@pytest.fixture(scope="module")
def page(absent):
    if chromium.PROGRAM is None:
        absent("Chromium is not installed (Debian: apt-get install chromium)")
    driver = chromium.Chromium()
    try:
        tab = driver.page()
        tab.size(1300, 900)
        yield tab
        tab.close()
    finally:
        driver.close()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two judges on hostile pairs, whose words are then made hostile, too; the report on them."""
    root = tmp_path_factory.mktemp("runs")
    records = [
        {"input": HOSTILE, "output_1": f"one {HOSTILE}", "output_2": f"two {HOSTILE}", "label": 1},
        {"input": ARABIC, "output_1": "الفيل", "output_2": "النمر", "label": 2},
        {"input": "Which is larger?", "output_1": "The elephant.", "output_2": "The ant.", "label": 1},
    ]
    (root / "pairs").mkdir()
    (root / "pairs/natural.json").write_text(json.dumps(records), encoding="utf-8")
    for name, script in (("org/steady ü", "first"), ("random", "coin")):
        run = [
            sys.executable,
            "-m",
            "experiments",
            "engine=scripted",
            f"engine.script={script}",
            f"model.name='{name}'",
        ]
        run += ["data=llmbar", f"data.path={root / 'pairs'}", "repeats=2", "temperature=[0,1]", f"root={root}"]
        subprocess.run(
            [*run, "format=[direct,vf_json]", "bootstrap.replicates=50"], check=True, capture_output=True, cwd=CHECKOUT
        )
    for shard in (root / "store").glob("*.jsonl"):
        lines = [json.loads(line) for line in shard.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            line |= {"text": f"{line['text']}\n{HOSTILE}", "reasoning": HOSTILE, "engine": HOSTILE}
        shard.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["experiment=trust", f"root={root}", "replicates=50"]) == 0
    return root


@pytest.fixture
def verdicts(page, root):
    """The browser's page, opened at a fragment."""

    def opened(fragment="", name="verdicts.html"):
        page.open(root / "trust/report" / name, fragment)
        page.wait("/verdicts on/.test(document.getElementById('count').textContent)")
        return page

    return opened


def ready(page):
    page.wait("document.querySelectorAll('#reading .verdict').length > 0")


def count(page):
    return page.run("document.getElementById('count').textContent")


def quiet(page):
    """Nothing was complained about, nothing asked of any network, nothing of the data has run."""
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "about:"))] == []
    assert page.run("window.hit === undefined")


def choose(page, name, value):
    page.run(
        f"(() => {{ const s = document.getElementById('filter-{name}');"
        f"s.value = [...s.options].find(o => o.text.startsWith({json.dumps(value)})).value;"
        "s.dispatchEvent(new Event('change')); })()"
    )


def test_the_report_opens_without_a_complaint(page, root):
    page.open(root / "trust/report/index.html")
    quiet(page)
    assert page.run("document.querySelectorAll('table').length") > 0
    assert page.run("document.querySelectorAll('a[href^=\"verdicts.html\"]').length") > 0
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_browser_opens_and_filters(verdicts):
    page = verdicts()
    # 2 judges x 3 items x 2 formats x 2 temperatures x 2 orders x 2 repeats
    assert count(page) == "96 verdicts on 3 items"
    choose(page, "judge", "org/steady ü")
    assert count(page) == "48 of 96 verdicts on 3 items"
    choose(page, "flipped", "yes")
    assert count(page) == "48 of 96 verdicts on 3 items"  # Who always names the first shown turns with the order.
    choose(page, "order", "AB")
    choose(page, "right", "wrong")
    assert count(page) == "8 of 96 verdicts on 1 item"
    quiet(page)


def test_links_hold_filters_and_item(verdicts):
    page = verdicts()
    choose(page, "judge", "random")
    page.press("j")
    ready(page)
    said = page.run("location.hash")
    again = verdicts(said[1:])
    ready(again)
    assert count(again) == "48 of 96 verdicts on 3 items"
    assert again.run("document.querySelector('#reading h2').textContent") == again.run(
        "new URLSearchParams(location.hash.slice(1)).get('item')"
    )
    assert again.run("document.querySelectorAll('#reading .verdict').length") == 16
    quiet(again)


def test_a_link_that_leads_nowhere_is_told(verdicts):
    page = verdicts("judge=nobody&item=none&data=llmbar")
    said = page.run("document.getElementById('notice').textContent")
    assert "judge=nobody" in said and "item none" in said
    assert count(page) == "96 verdicts on 3 items"


def test_keys(verdicts):
    page = verdicts()
    for key in ("j", "j", "j", "j", "k"):
        page.press(key)
    ready(page)
    assert page.run("[...document.querySelectorAll('#list button')].findIndex(b => b.ariaCurrent === 'true')") == 1
    page.press("n")
    page.press("n")
    assert page.run("document.activeElement.className") == "verdict"
    page.press("r")
    page.wait("document.querySelector('#reading details.prompt .words') !== null")
    page.press("Escape")
    assert "item=" not in page.run("location.hash")
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    page.press("Escape")
    page.press("?")
    assert page.run("document.getElementById('keys').open")
    quiet(page)


def test_hostile_words_are_shown_as_text_and_do_nothing(verdicts):
    page = verdicts()
    page.press("j")
    ready(page)
    page.press("r")
    page.wait("document.querySelector('#reading details.prompt .words') !== null")
    page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    shown = page.run("[...document.querySelectorAll('#reading .words')].map(n => n.textContent)")
    assert sum(HOSTILE in text for text in shown) > 20
    tags = "#panes img, #panes iframe, #panes svg, #panes script, #panes style, #panes a, #panes [style]:not(.bar span)"
    assert page.run(f"document.querySelectorAll({json.dumps(tags)}).length") == 0
    # The sign that turns the direction is named, and holds for itself alone, wherever it comes up.
    turned = (
        "(() => { const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = []; let n;"
        "while (n = all.nextNode()) if (n.data.includes('\\u202e')) found.push(n.parentNode.className);"
        "return found; })()"
    )
    assert set(page.run(turned)) == {"control"}
    assert page.run("document.querySelector('#reading .control').dataset.code") == "U+202E"
    assert page.run("getComputedStyle(document.querySelector('#reading .control')).unicodeBidi") == "isolate"
    quiet(page)


def test_the_prompt_is_the_one_asked_and_the_verdict_is_marked(verdicts):
    page = verdicts("judge=org/steady ü&format=vf_json&order=BA&repeat=1&temperature=0")
    page.press("j")
    ready(page)
    assert page.run("document.querySelector('#reading .verdict mark').textContent") == "A"
    assert page.run("document.querySelector('#reading .verdict b').textContent") == "B"
    page.press("r")
    page.wait("document.querySelector('#reading details.prompt .words') !== null")
    asked = page.run("document.querySelector('#reading details.prompt').textContent")
    assert asked.index(f"two {HOSTILE}") < asked.index(f"one {HOSTILE}")
    assert page.run("document.querySelectorAll('#reading .verdict').length") == 1
    page.press("a")
    ready(page)
    assert page.run("document.querySelectorAll('#reading .verdict').length") == 32
    quiet(page)


def test_right_to_left_text_begins_on_the_right(verdicts):
    page = verdicts()
    for _ in range(2):
        page.press("j")
    page.wait(f"document.getElementById('reading').textContent.includes({json.dumps(ARABIC)})")
    box = f"[...document.querySelectorAll('#reading .words')].find(n => n.textContent === {json.dumps(ARABIC)})"
    assert page.run(f"getComputedStyle({box}).direction") == "rtl"
    assert page.run("getComputedStyle(document.body).direction") == "ltr"


@pytest.mark.parametrize(("width", "height", "dark"), [(390, 844, True), (1300, 900, False)])
def test_nothing_is_cut_off(verdicts, tmp_path, width, height, dark):
    page = verdicts()
    try:
        page.size(width, height, dark=dark)
        page.press("j")
        ready(page)
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        assert page.run(
            "[...document.querySelectorAll('button, select')].every(n => n.scrollWidth <= n.clientWidth + 1)"
        )
        page.picture(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000
    finally:
        page.size(1300, 900)


def test_on_paper_everything_is_there(verdicts):
    page = verdicts()
    page.press("j")
    ready(page)
    page.send("Emulation.setEmulatedMedia", media="print")
    try:
        assert page.run("getComputedStyle(document.getElementById('filters')).display") == "none"
        assert page.run(
            "[...document.querySelectorAll('#reading .words')].every(n => n.scrollHeight <= n.clientHeight + 2)"
        )
    finally:
        page.send("Emulation.setEmulatedMedia", media="")


def test_a_missing_folder_is_told(page, root, tmp_path):
    (tmp_path / "verdicts.html").write_bytes((root / "trust/report/verdicts.html").read_bytes())
    (tmp_path / "verdicts").mkdir()
    for name in ("browser.js", "reading.js", "browser.css"):
        (tmp_path / "verdicts" / name).write_bytes((root / "trust/report/verdicts" / name).read_bytes())
    page.open(tmp_path / "verdicts.html")
    page.wait("!document.getElementById('notice').hidden")
    assert "belongs beside this page" in page.run("document.getElementById('notice').textContent")


def test_a_hundred_thousand_verdicts_are_filtered_at_once(page, tmp_path):
    levels = {"judge": 5, "item": 1000, "order": 2, "repeat": 10}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    rng = np.random.default_rng(0)
    table = table.assign(
        study="trust", dataset="data", gold="A", outcome="ok", winner=rng.choice(["A", "B"], len(table)),
        order=np.where(table["order"], "BA", "AB"), judge=table["judge"].map("judge {}".format),
        item=table["item"].map("item {:04d}".format), format="direct",
    )  # fmt: skip
    folder = tmp_path / "trust/data/many"
    folder.mkdir(parents=True)
    table.to_parquet(folder / "verdicts.parquet")
    browser.write(find(tmp_path, "trust"), tmp_path, tmp_path / "report")
    assert max(p.stat().st_size for p in (tmp_path / "report/verdicts").iterdir()) < 4e6
    begun = time.perf_counter()
    page.open(tmp_path / "report/verdicts.html")
    page.wait("document.getElementById('count').textContent === '100,000 verdicts on 1,000 items'")
    opened = time.perf_counter() - begun
    seconds = page.run(
        "(async () => { const s = document.getElementById('filter-judge'), began = performance.now(); s.value = '3';"
        "s.dispatchEvent(new Event('change'));"
        "await new Promise(done => requestAnimationFrame(() => setTimeout(done)));"
        "return performance.now() - began; })()"
    ) / 1000  # fmt: skip
    print(f"opened in {opened:.2f} s, first filter in {seconds:.3f} s")
    assert count(page) == "20,000 of 100,000 verdicts on 1,000 items"
    assert seconds < 5  # A busy machine is no failure; the figure is tests/benchmarks/bench_browser.py's.
    quiet(page)


def test_verdicts_without_words_say_so(page, tmp_path):
    folder = tmp_path / "judgebench/others/judge"
    folder.mkdir(parents=True)
    row = {"study": "imported", "judge": "j", "dataset": "d", "item": "<b>1</b>", "gold": "A", "order": "AB",
           "winner": "B", "outcome": "ok", "text_end": HOSTILE, "p_first": 0.25, "label_mass": 0.8}  # fmt: skip
    pd.DataFrame([row]).to_parquet(folder / "verdicts.parquet")
    browser.write(find(tmp_path, "judgebench"), tmp_path, tmp_path / "report")
    page.open(tmp_path / "report/verdicts.html", "item=<b>1</b>")
    ready(page)
    said = page.run("document.getElementById('reading').textContent")
    assert "without the judge's words" in said and "imported" in said and HOSTILE in said and "<b>1</b>" in said
    assert "A 25.0 %, B 75.0 % of the labels, which hold 80.0 % of the probability" in said
    widths = page.run("[...document.querySelectorAll('#reading .bar span')].map(n => parseFloat(n.style.width))")
    assert widths == pytest.approx([20, 0, 60])
    quiet(page)
