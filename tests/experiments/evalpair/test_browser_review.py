"""The review page in a real Chromium, used by keyboard, on texts that would rather be code."""

import json
import shutil
import threading

import chromium
import pytest

from analysis import files
from experiments.evalpair.page import serve
from experiments.evalpair.review import board

HOSTILE = (
    "</blockquote><script>window.hit=1</script><img src=x onerror='window.hit=2'>"
    "<style>*{display:none!important}</style>${window.hit=3} \u202egnp.exe\u202c أيهما"
)
ERROR, LABEL = "document.getElementById('error').textContent", "document.body.innerText.includes('THE AUTOMATIC LABEL')"


@pytest.fixture
def tab(absent):
    if chromium.PROGRAM is None:
        absent("Chromium is not installed (Debian: apt-get install chromium)")
    driver = chromium.Chromium()
    try:
        tab = driver.page()
        tab.size(1100, 800)
        yield tab
        tab.close()
    finally:
        driver.close()


def reviewing(tab, run):
    """A server for a reviewer of this run, and its page, opened."""
    server, address = serve(board(run, "ada", 12), 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    tab.complaints.clear()
    tab.send("Page.navigate", url="about:blank")  # The page of a server that has ended would look the same.
    tab.wait("location.href === 'about:blank'")
    tab.send("Page.navigate", url=address)
    tab.wait(f"location.href.startsWith('{address}') && document.querySelectorAll('#first button').length === 3")

    def end():
        server.shutdown()
        thread.join()
        server.server_close()

    return end


def title(tab):
    return tab.run("document.getElementById('title').textContent")


def test_a_reviewer_at_the_keyboard(tab, evalpair, script):
    answer = {"answer": HOSTILE, "cited_passage_ids": [], "is_refusal": False, "notes": ""}
    hostile = script("hostile", lambda request: json.dumps(answer))
    folder = evalpair(
        "data.limit=3",
        cast=["perturbers=[scripted]", f"generators=[{hostile}]", "judges=[scripted]", "labeller=scripted"],
    )
    kept = folder / "review" / "ada.csv"
    end = reviewing(tab, folder)
    assert title(tab) == "Case 1 of 3" and HOSTILE.split()[-1] in tab.run("document.body.innerText")
    assert "<script>window.hit=1</script>" in tab.run("document.querySelectorAll('blockquote')[1].textContent")
    assert not tab.run(LABEL)
    tab.press("n")
    tab.wait(LABEL)
    tab.press("y")
    tab.wait("document.getElementById('title').textContent === 'Case 2 of 3'")
    assert files.load(kept, ("case", "label_ok", "judge_ok"))["judge_ok"].tolist() == ["yes", "", ""]
    tab.press("c")
    for key in "=1+n":  # In the comment, letters are no answers.
        tab.press(key)
    tab.press("Escape")
    tab.wait("document.getElementById('count').textContent === '1 done'")
    tab.wait("state.said[state.cases[1].case] && state.said[state.cases[1].case].comment === '=1+n'")
    assert files.load(kept, ("comment",))["comment"].tolist() == ["", "=1+n", ""]
    end()
    end = reviewing(tab, folder)
    assert title(tab) == "Case 2 of 3" and tab.run("document.getElementById('comment').value") == "=1+n"
    tab.press("j")
    tab.wait("document.getElementById('title').textContent === 'Case 3 of 3'")
    tab.press("o")
    tab.wait("document.getElementById('title').textContent === 'Case 2 of 3'")
    shutil.rmtree(folder / "review")
    (folder / "review").write_text("in the way")
    tab.press("u")
    tab.wait(f"{ERROR}.startsWith('not saved')")
    end()
    assert tab.run("window.hit === undefined")
    assert [c for c in tab.complaints if "507" not in str(c)] == []
