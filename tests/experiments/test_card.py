import json
import os
import re
import shlex
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

from analysis import verdicts
from experiments import __main__ as command
from experiments import card
from experiments.card_record import Card, schema

HOSTILE = "org/दी judge <script>alert(1)</script>"
QUICK = ["engine=scripted", "bootstrap.replicates=0"]


def study(root, *words):
    """One study on the scripted engine, in this process."""
    command.FAILED.clear()
    before, sys.argv = sys.argv, ["experiments/__main__.py", *words, *QUICK, f"root={root}"]
    try:
        assert command.main() == 0, words
    finally:
        sys.argv = before


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A judge with four studies, and another with one."""
    root = tmp_path_factory.mktemp("runs")
    study(
        root, "experiment=trust", "judge=scripted", "model.script=first", "data.limit=6", "repeats=2", "format=direct"
    )
    study(root, "experiment=judgebench", "judge=scripted", "model.script=first", "data.limit=6", "format=vanilla")
    qa = ["judge=scripted", "model.script=accepts_all", "data=verifiable_qa", "data.limit=8"]
    study(root, "experiment=refsense", *qa, "reference=[NR,RV]")
    study(root, "experiment=swapref", *qa, "swap=type_preserving", "format=standard")
    study(root, "experiment=judgebench", "model.name=other", "data.limit=6", "format=vanilla")
    return root


@pytest.fixture(scope="module")
def made(root):
    paths = card.cards({"judge": "scripted,other", "root": str(root), "out": "", "replicates": "200"})
    return {path.name: path for path in paths}


def read(path):
    return Card.model_validate_json(path.read_text(encoding="utf-8"))


def numbers(found, metric, **where):
    chosen = [n for n in found.numbers if n.metric == metric and all(getattr(n, k) == v for k, v in where.items())]
    assert chosen, metric
    return chosen


def test_a_card_gathers_every_study_of_a_judge(made):
    found = read(made["scripted.json"])
    assert [run.study for run in found.runs] == ["judgebench", "refsense", "swapref", "trust"]
    # A judge that always names the answer shown first repeats itself, flips with the order and is right half the time.
    trust = {m: numbers(found, m, study="trust")[0] for m in ("C", "phi", "A", "T")}
    assert {m: n.value for m, n in trust.items()} == {"C": 1, "phi": 1, "A": 0.5, "T": 0}
    assert (trust["C"].n, trust["phi"].n) == (12, 6) and trust["C"].setting["format"] == "direct"
    assert trust["phi"].ci_low == trust["phi"].ci_high == 1
    assert numbers(found, "accuracy")[0].value == 0 and numbers(found, "first_position")[0].value == 1
    # One that accepts whatever it is shown: C1 = C2 = 1, and half of all triplets right under either reference.
    assert [numbers(found, m)[0].value for m in ("C1", "C2", "CGP")] == [1, 1, 0]
    assert numbers(found, "RPAG", slice="type_preserving")[0].value == 0
    assert numbers(found, "ACC_s", slice="type_preserving")[0].value == 0.5
    assert {n.study for n in numbers(found, "unreadable")} == {"judgebench", "refsense", "swapref", "trust"}


def test_every_number_has_what_a_reader_needs_to_check_it(made):
    for name in ("scripted.json", "other.json"):
        for number in read(made[name]).numbers:
            assert number.engine and number.date and re.fullmatch(r"\d{4}-\d\d-\d\d", number.date)
            assert (made[name].parent / unquote(number.rows)).is_file()
            assert number.value is not None or number.note, number


def test_what_was_not_tested_is_said_with_the_command_that_tests_it(made):
    gaps = {gap.topic: gap for gap in read(made["other.json"]).not_tested}
    assert gaps.keys() >= {"trust", "reference", "calibration", "over_credit", "grounded", "own_model", "serving"}
    assert "both_orders" not in gaps
    assert not [gap for gap in gaps.values() if str(made["other.json"].parents[1]) in gap.command]
    assert gaps["trust"].why == "no run of trust with this judge" and gaps["trust"].what == "C, phi, A, T"
    whole = read(made["scripted.json"])
    assert {gap.topic for gap in whole.not_tested} == {
        *("own_answers", "grounded", "own_model", "confidence", "serving", "over_credit"),
    }  # Without a flip there is no direction of flips.
    assert [g.what for g in whole.not_tested if g.topic == "over_credit"] == ["over_credit"]


def test_the_command_for_a_gap_runs_and_closes_it(made, root, tmp_path):
    gap = next(gap for gap in read(made["other.json"]).not_tested if gap.topic == "trust")
    words = [word for word in shlex.split(gap.command)[3:] if not word.startswith("root=")]
    assert "model.name=other" in words and "engine=scripted" in words
    study(tmp_path, *words, "data.limit=4", "repeats=2", "format=direct")
    path = card.cards({"judge": "other", "root": str(tmp_path), "out": "", "replicates": "0"})[0]
    assert "trust" not in {gap.topic for gap in read(path).not_tested}


def test_the_json_is_what_its_schema_says(made):
    told = schema()
    found = json.loads(made["scripted.json"].read_text(encoding="utf-8"))
    assert set(told["required"]) <= set(found) <= set(told["properties"])
    with pytest.raises(ValueError, match="surprise"):
        Card.model_validate(found | {"surprise": 1})


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.tags = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.found += [value for key, value in attrs if key in ("href", "src")]


def test_pages_lead_to_the_rows_and_ask_nothing_of_a_network(made):
    for path in made.values():
        if path.suffix == ".html":
            page = Links()
            page.feed(path.read_text(encoding="utf-8"))
            assert "script" not in page.tags and not [a for a in page.found if "//" in a]
            for address in page.found:
                assert address.startswith("#") or (path.parent / unquote(address).split("#")[0]).exists(), address


def test_several_judges_stand_side_by_side(made):
    text = made["scripted+other.html"].read_text(encoding="utf-8")
    assert '<th scope="col">scripted</th><th scope="col">other</th>' in text
    assert "not tested" in text and "scripted.json" in text


def verdict_table(judge, *, outcome="ok"):
    winner = "A" if outcome == "ok" else None
    rows = [
        {"study": "judgebench", "judge": judge, "dataset": "d", "item": f"i{i}", "gold": "A", "order": o,
         "winner": winner, "outcome": outcome, "requests": f"{i}{o}", "prompt_tokens": 100, "cached_tokens": 0,
         "completion_tokens": 10}
        for i in range(4) for o in ("AB", "BA")
    ]  # fmt: skip
    return verdicts.check(pd.DataFrame(rows))


def imported(root, judge, folder, **how):
    place = root / "judgebench" / "d" / folder
    place.mkdir(parents=True)
    verdicts.write(verdict_table(judge, **how), place / "verdicts.parquet")
    return place


def test_imported_verdicts_of_a_judge_with_any_name(tmp_path):
    imported(tmp_path, HOSTILE, "x")
    path, page = card.cards({"judge": HOSTILE, "root": str(tmp_path), "out": "", "replicates": "0"})
    assert path.parent == tmp_path / "cards" and os.sep not in path.name
    found = read(path)
    assert found.judge == HOSTILE and found.runs[0].date is None and found.runs[0].engine == ()
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "दी" in text
    assert any("No manifest" in limit.says for limit in found.limits)
    assert all(shlex.split(gap.command)[3:] for gap in found.not_tested)


def test_two_judges_whose_names_make_one_file_name(tmp_path):
    imported(tmp_path, "org/a", "x")
    imported(tmp_path, "org_a", "y")
    paths = card.cards({"judge": "org/a,org_a", "root": str(tmp_path), "out": "", "replicates": "0"})
    assert len(set(paths)) == 5
    assert {read(path).judge for path in paths if path.suffix == ".json"} == {"org/a", "org_a"}


def test_replies_without_a_verdict_are_counted_and_give_no_number(tmp_path):
    imported(tmp_path, "mute", "mute", outcome="unreadable")
    found = read(card.cards({"judge": "mute", "root": str(tmp_path), "out": "", "replicates": "50"})[0])
    lost = numbers(found, "unreadable")[0]
    assert (lost.value, lost.n) == (1, 8) and found.runs[0].outcomes == {"unreadable": 8}
    assert "first_position" in next(gap.what for gap in found.not_tested if gap.topic == "both_orders")


def test_a_priced_judge_costs_money(tmp_path):
    place = imported(tmp_path, "dear", "dear")
    price = {"input": 2.0, "output": 8.0, "as_of": "2026-01-01"}
    model = {"name": "dear", "price": price}
    (place / "manifest.json").write_text(json.dumps({"settings": {"model": model}}))
    cost = read(card.cards({"judge": "dear", "root": str(tmp_path), "out": "", "replicates": "0"})[0]).costs[0]
    # 8 calls of 100 prompt tokens at $2 and 10 written at $8 a million.
    assert (cost.calls, cost.prompt_tokens, cost.usd, cost.priced) == (8, 800, 0.00224, "2026-01-01")
    assert cost.each(cost.usd) == 0.00028


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["judge=scriptd"], "did you mean 'scripted'?"),
        (["judge=scripted,nobody"], "no run in"),
        (["judge="], "whose card?"),
        (["jugde=x"], "did you mean 'judge'?"),
        (["scripted"], "KEY=VALUE"),
        (["judge=scripted", "replicates=few"], "whole number"),
    ],
)
def test_mistakes_in_a_card_command_are_named(root, words, said, capsys):
    assert card.main([f"root={root}", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_root_without_runs(tmp_path, capsys):
    assert card.main(["judge=x", f"root={tmp_path / 'none'}"]) == 2
    assert "make one" in capsys.readouterr().err


def test_a_faulty_table_is_named(tmp_path, capsys):
    place = imported(tmp_path, "x", "x")
    Path(place / "verdicts.parquet").write_bytes(b"PAR1 torn")
    (place / "manifest.json").write_text(json.dumps({"settings": {"model": {"name": "x"}}}))
    assert card.main(["judge=x", f"root={tmp_path}"]) == 2
    assert "verdicts.parquet" in capsys.readouterr().err


def test_card_help_and_schema(capsys):
    assert card.main(["--help"]) == 0 and "judge=NAME" in capsys.readouterr().out
    assert card.main(["--schema"]) == 0 and json.loads(capsys.readouterr().out)["title"] == "Card"


def test_pages_lead_to_the_browser_where_a_report_has_made_one(tmp_path):
    imported(tmp_path, "a b", "x")
    (tmp_path / "judgebench" / "report").mkdir()
    (tmp_path / "judgebench" / "report" / "verdicts.html").touch()
    path, page = card.cards({"judge": "a b", "root": str(tmp_path), "out": "", "replicates": "0"})
    assert read(path).runs[0].browser == "../judgebench/report/verdicts.html#judge=a+b&data=d"
    assert "verdicts.html#judge=a+b&amp;data=d" in page.read_text(encoding="utf-8")


def test_a_run_that_is_planned_and_not_finished_is_no_number(root, tmp_path):
    study(tmp_path, "experiment=trust", "judge=scripted", "data.limit=4", "format=direct", "repeats=2")
    study(tmp_path, "experiment=judgebench", "judge=scripted", "data.limit=4", "format=vanilla")
    (tmp_path / "judgebench" / "verifiable" / "scripted" / "verdicts.parquet").unlink()
    (tmp_path / "judgebench" / "verifiable" / "scripted" / "manifest.json").unlink()
    found = read(card.cards({"judge": "scripted", "root": str(tmp_path), "out": "", "replicates": "0"})[0])
    unfinished = next(gap for gap in found.not_tested if gap.topic == "unfinished")
    assert (unfinished.what, "8 calls are planned" in unfinished.why) == ("judgebench on verifiable", True)
