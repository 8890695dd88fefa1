import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from analysis import verdicts
from experiments import report
from experiments.provenance import command
from experiments.runs import Run

HOSTILE = "org/a judge é <script>alert(1)</script> \u202e"
VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(scope="module", autouse=True)
def no_browser():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_write_verdicts", lambda *given: "")
        yield


def make(root, judge, data="d", repeats=3, manifest=True, label=None, seed=0, **settings):
    """A run of the study trust: 20 pairs, two formats, made by chance."""
    levels = [[f"i{i}" for i in range(20)], ["direct", "cot_xml"], ["AB", "BA"], range(repeats)]
    table = pd.MultiIndex.from_product(levels, names=["item", "format", "order", "repeat"]).to_frame(index=False)
    gold = table["item"].str[1:].astype(int).mod(2).map({0: "A", 1: "B"})
    winner = np.random.default_rng(seed).choice(["A", "B"], len(table))
    table = table.assign(study="trust", judge=judge, dataset=data, gold=gold, winner=winner, outcome="ok")
    folder = root / "trust" / data / (label or judge)
    folder.mkdir(parents=True)
    verdicts.write(verdicts.check(table.assign(method="pairwise", temperature=0.0)), folder / "verdicts.parquet")
    if manifest:
        note = {
            "command": ["/home/somebody/voirdire/experiments/__main__.py", "experiment=trust", f"judge={judge}",
                        f"data.path=/home/somebody/sets/{data}", "root=/home/somebody/runs", "repeats=3"],
            "ended": "2026-01-02T03:04:05+00:00",
            "settings": {"model": {"name": judge, "weights": "w"}, "repeats": repeats, **settings},
            "model": {"name": "org/weights", "revision": "abc123", "dtype": "bfloat16"},
            "data": {"dataset": data, "items": 20, "available": 40, "items_sha256": "f" * 64},
            "prompts": {"pairwise/direct": "e" * 64},
            "calls": {"total": 240, "asked_now": 240, "from_store": 0, "outcomes": {"ok": 239, "truncated": 1},
                      "engines": {"vllm 0.33.0 gpu bfloat16": 240}, "prompt_tokens": 12345, "completion_tokens": 678},
            "cost": {"usd": 1.5, "price": {"as_of": "2026-01-01"}},
            "versions": {"voirdire": "0.1.0", "vllm": "0.33.0"},
            "git": {"commit": "c0ffee", "changed": False},
        }  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(note), encoding="utf-8")
    return folder


def page(root, *words):
    assert report.main(["experiment=trust", f"root={root}", "replicates=20", *words]) == 0
    return (root / "trust" / "report" / "index.html").read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Headings, ids, links, and tags that are left open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.levels, self.tags = [], [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    root = tmp_path_factory.mktemp("two")
    make(root, "one")
    make(root, HOSTILE, label="hostile", seed=1)
    return root


@pytest.fixture(scope="module")
def text(two):
    return page(two)


def test_a_page_is_whole_and_asks_nothing_of_any_network(text):
    found = Outline(text)
    assert found.open == [] and len(found.ids) == len(set(found.ids))
    assert found.levels[0] == 1 and found.levels.count(1) == 1 and max(np.diff(found.levels)) <= 1
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert "default-src 'none'" in text and "script" not in found.tags and "link" not in found.tags
    assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]+\"", text) and "@import" not in text
    assert len(text) < 3e6


def test_a_page_holds_what_was_asked_and_found(text):
    for said in (
        "2 judges on 1 data set", "org/weights, revision abc123", "f" * 64, "e" * 64, "vllm 0.33.0 gpu bfloat16",
        "239 ok, 1 truncated", "12,345 of prompts", "$1.50 at the prices of 2026-01-01", "commit c0ffee", "2026-01-02",
        "95 % percentile intervals", "@software{voirdire", "Judges compared", "left out (drop)", "policies",
    ):  # fmt: skip
        assert said in text, said
    assert text.count("<svg") == 4 and text.count("The numbers drawn") == 3  # One has no data: a single temperature.
    assert "Nothing to show" in text


def test_a_page_names_no_folder_of_the_machine(two, text):
    assert "somebody" not in text and str(two) not in text
    assert "python -m experiments experiment=trust judge=one data.path=FOLDER/d repeats=3" in text


def test_hostile_names_are_text(text):
    assert "alert(1)" in text and "<script" not in text
    assert "&lt;script&gt;" in text


def test_what_limits_the_numbers_is_said(text):
    assert "Fewer than 5 repeats" in text and "Fewer than 30 independent groups" in text
    assert "Only one judge" not in text


def test_runs_that_were_asked_differently_stand_apart(tmp_path):
    make(tmp_path, "one")
    make(tmp_path, "two", repeats=5)
    text = page(tmp_path)
    assert "Runs that were asked differently" in text and "Result (design 2)" in text
    out = tmp_path / "trust" / "report"
    assert set(pd.read_csv(out / "metrics.csv")["design"]) == {1, 2}
    assert (out / "figures" / "bound_1.svg").exists() and (out / "figures" / "bound_2.svg").exists()
    assert Outline(text).open == []


def test_an_earlier_reports_figures_do_not_stay(tmp_path):
    make(tmp_path, "one")
    old = tmp_path / "trust" / "report" / "figures" / "bound_2.svg"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    page(tmp_path)
    assert not old.exists()


def test_imported_verdicts_have_a_page_that_says_what_is_missing(tmp_path):
    make(tmp_path, "imported", manifest=False)
    text = page(tmp_path)
    assert "No manifest lies beside these verdicts" in text and "not recorded" in text
    assert "words behind these verdicts are not in the store" in text


def test_a_manifest_that_cannot_be_read_is_none(tmp_path):
    folder = make(tmp_path, "one")
    (folder / "manifest.json").write_text('{"settings": {"mod')
    assert "No manifest lies beside" in page(tmp_path)


def test_a_study_without_a_finished_run_has_a_partial_page(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "waiting", lambda root, study: ["one on d: 3 of 10 known calls answered"])
    text = page(tmp_path)
    assert "Partial." in text and "3 of 10 known calls" in text and "python -m experiments experiment=trust" in text
    assert Outline(text).open == []


def test_no_run_at_all_says_what_there_is(two, tmp_path, capsys):
    assert report.main(["experiment=judgebench", f"root={two}"]) == 2
    said = capsys.readouterr().err
    assert "runs of other studies there: trust (2)" in said and "python -m experiments experiment=judgebench" in said
    assert report.main(["experiment=trust", f"root={tmp_path / 'none'}"]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (["/x/experiments/__main__.py", "-m", "judge=a,b", "root=/x", "shard=1/4", "hydra/launcher=slurm"],
         "-m judge=a,b"),
        (["/x/experiments/__main__.py", "prompt.path=~/p", "api.base_url=http://node7:80"],
         "prompt.path=FOLDER/p api.base_url=URL"),
        (["/x/experiments/__main__.py", "model.name='a b'; rm"], "'model.name='\"'\"'a b'\"'\"'; rm'"),
        (["/x/submitit/core/_submit.py", "/y"], "experiment=trust judge=j data=d"),
    ],
)  # fmt: skip
def test_commands_are_what_anybody_can_type(tmp_path, typed, shown):
    settings = {"model": {"name": "j"}, "data": {"label": "d"}}
    run = Run(tmp_path, "trust", "d", "j", {"command": typed, "settings": settings})
    assert command(run) == f"python -m experiments {shown}"


def test_a_row_leads_to_its_verdicts():
    row = {"judge": "org/a&b", "dataset": "d", "format": "direct", "generator": "", "T": "0.5 [0.4, 0.6]"}
    assert report._verdicts_of(row) == "verdicts.html#judge=org%2Fa%26b&data=d&format=direct"
    assert report._verdicts_of(row | {"format": "*"}) == "verdicts.html#judge=org%2Fa%26b&data=d"
    assert report._verdicts_of({"term": "judge"}) == ""
