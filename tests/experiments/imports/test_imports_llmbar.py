import json

import numpy as np
import pytest

from analysis.accuracy import items, judgebench

SUBSETS = {
    "natural": "natural",
    "adversarial_neighbor": "adversarial_neighbor",
    "adversarial_gptinst": "adversarial_gptinst",
    "adversarial_gptout": "adversarial_gptout",
    "adversarial_manual": "adversarial_manual",
}


@pytest.fixture(scope="module")
def published(shared):
    return json.loads((shared / "llmbar" / "published_statistics.json").read_text())


@pytest.fixture(scope="module")
def files(shared):
    return sorted((shared / "llmbar" / "judge_outputs").glob("*.jsonl.gz"))


@pytest.fixture(scope="module")
def as_published(imports, files, shared):
    return imports("llmbar", *files, options=["--items", shared / "llmbar", "--as-published"])


def per_cell(units):
    for (judge, strategy, subset), part in units.groupby(["judge", "format", "source"]):
        yield judge, strategy, subset, part


def statistics(part):
    """LLMBar's three statistics; it counts half of an undecided rating, for one output in each order."""
    verdicts = part[["verdict_AB", "verdict_BA"]].astype(object)
    right = verdicts.eq(part["gold"], axis=0).to_numpy()
    undecided = ~verdicts.isin(["A", "B"]).to_numpy() & (part["method"] == "pointwise").to_numpy()[:, None]
    unread = verdicts.isna().all(axis=1) & (part["method"] != "pointwise")
    alike = (verdicts["verdict_AB"] == verdicts["verdict_BA"]) & (verdicts["verdict_AB"] != "tie") | unread
    return {
        "correct_average": 100 * (right + undecided / 2).mean(),
        "correct_both": 100 * right.all(axis=1).mean(),
        "equal": 100 * alike.mean(),
    }


def test_every_cell_equals_the_published_statistics(as_published, published):
    cells = 0
    for judge, strategy, subset, part in per_cell(items(as_published.table, unreadable="wrong")):
        stated = published[subset][judge][strategy]
        found = statistics(part)
        assert found["correct_average"] == pytest.approx(float(stated["correct_average"].rstrip("%")), abs=1e-9)
        for name in ("correct_both", "equal"):
            assert found[name] == pytest.approx(float(stated[name].split("=")[1].rstrip("% ")), abs=1e-9), (
                judge, strategy, subset, name)  # fmt: skip
        cells += 1
    assert cells == 26 * 5


def test_our_metrics_give_the_published_average(as_published, published):
    """The mean of the two single-order accuracies, straight from the metrics of the study `judgebench`."""
    forced = as_published.table[as_published.table["method"] != "pointwise"]
    found = judgebench(forced, rng=np.random.default_rng(0), replicates=0, unreadable="wrong")
    found = found.pivot_table(index=["judge", "format", "slice"], columns="metric", values="value")
    for (judge, strategy, subset), row in found.drop(index="overall", level="slice").iterrows():
        stated = published[subset][judge][strategy]
        average = 50 * (row["accuracy_AB"] + row["accuracy_BA"])
        assert average == pytest.approx(float(stated["correct_average"].rstrip("%")), abs=1e-9)
        assert 100 * row["accuracy"] == pytest.approx(float(stated["correct_both"].split("=")[1].rstrip("% ")))


def test_by_its_own_grammar_every_text_reads_as_stored(as_published):
    differs = as_published.listed[as_published.listed["differs"]]
    assert set(differs["format"]) == {"Rating"}
    # 67 + 213 equal ratings and 2 that are missing, each in two orders.
    assert len(differs) == 2 * (67 + 213 + 2)


def test_texts_that_state_both_verdicts_are_listed(imports, files):
    listed = imports("llmbar", *files).listed
    both = listed[listed["remark"] == "contradicting verdicts"]
    assert both["format"].value_counts().to_dict() == {"Swap_CoT": 84, "CoT": 6}
    last = both["text_end"].str.extract(r"(?s).*Output \(([ab])\) is (?:the )?better")[0]
    shown_first = np.where(both["order"] == "AB", "A", "B")
    assert (both["stored"] == shown_first).all()
    assert (last == "b").sum() == 46


RECORD = {"subset": "natural", "idx": 7, "evaluator": "m", "strategy": "Vanilla", "label": 2}


def look(text, winner):
    return {"completion": [text, "stop"], "winner": winner}


def test_swapped_outputs_are_mapped_back(write, tmp_path, imports):
    steps = [{"swap = False": look("Output (b)", "2"), "swap = True": look("Output (b)", "1")}]
    found = imports("llmbar", write(tmp_path / "r.jsonl", RECORD | {"results": steps}))
    assert found.cells("item", "order", "winner", "stored", "gold") == [
        ("natural-007", "AB", "B", "B", "B"),
        ("natural-007", "BA", "A", "A", "B"),
    ]


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        (("3", "8"), ("B", "ok", 3, 8)),
        (("8", "8"), ("tie", "tie", 8, 8)),
        (("", "0"), (None, "unreadable", None, 0)),
        (("11", "0"), (None, "unreadable", None, 0)),
        (("-1", "0"), (None, "unreadable", None, 0)),
    ],
)
def test_ratings_make_the_verdict(write, tmp_path, imports, scores, verdict):
    step = {"score_1": [scores[0], "stop"], "score_2": [scores[1], "stop"]}
    step |= {"swap = False": {"winner": "2"}, "swap = True": {"winner": "1"}}
    found = imports("llmbar", write(tmp_path / "r.jsonl", RECORD | {"strategy": "Rating", "results": [step]}))
    assert found.cells("winner", "outcome", "score_a", "score_b") == [verdict, verdict]
    assert found.table["method"].tolist() == ["pointwise", "pointwise"]


def test_a_synthesis_is_the_verdict(write, tmp_path, imports):
    first = {"swap = False": look("Output (a) is better.", "1"), "swap = True": look("Output (a) is better.", "2")}
    second = {"swap = False": look("Output (b)", "2"), "swap = True": look("Output (a)", "2")}
    record = RECORD | {"strategy": "Swap", "results": [first, second]}
    found = imports("llmbar", write(tmp_path / "r.jsonl", record))
    assert found.cells("winner", "method") == [("B", "swap"), ("B", "swap")]


def test_upstreams_own_files_are_placed_by_their_path(tmp_path, imports, refused):
    folder = tmp_path / "LLMBar" / "Adversarial" / "GPTInst" / "evaluators" / "GPT-4" / "CoT"
    folder.mkdir(parents=True)
    step = {"swap = False": look("Output (a)", "1"), "swap = True": look("Output (b)", "1")}
    record = {"input": "i", "output_1": "x", "output_2": "y", "label": 1, "results": [step]}
    (folder / "result.json").write_text(json.dumps([record, record]))
    found = imports("llmbar", folder / "result.json")
    assert found.cells("judge", "format", "source", "item")[2] == (
        "GPT-4", "CoT", "adversarial_gptinst", "adversarial_gptinst-001")  # fmt: skip
    (tmp_path / "result.json").write_text(json.dumps([record]))
    assert "neither the record nor the path" in refused("llmbar", tmp_path / "result.json")
