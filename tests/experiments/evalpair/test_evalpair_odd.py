"""evalpair with models that do not do what they are asked: each of its roles, end to end."""

import json

import pandas as pd
import pytest

from analysis import files, verdicts
from experiments.evalpair import cases, tables
from judges.engines.scripted_grounded import grounded_reply
from judges.records import Completion

HOSTILE = (
    "=1+1", "+SUM(A1)", "-2", "@cmd", "'=x", "\t=1", "a\r\nb", '"; drop', "1e5", "True", "nan", "٤٨٪ من",
    "హైదరాబాద్\u200cలో",
)  # fmt: skip


def stage(folder, name):
    return files.load(folder / "stages" / f"{name}.csv", getattr(tables, name.upper()))


def notes(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["notes"]


def cast(perturber="scripted", validators=("scripted",), generators=("scripted",), judges=("scripted",)):
    return [
        f"perturbers=[{perturber}]",
        f"validators=[{','.join(validators)}]",
        f"generators=[{','.join(generators)}]",
        f"judges=[{','.join(judges)}]",
        "labeller=scripted",
    ]


def changed(change):
    """A script that replies as the others do, with some fields changed."""

    def reply(request):
        found = json.loads(grounded_reply(request))
        return json.dumps({**found, **change(found)}, ensure_ascii=False)

    return reply


# Perturbers ---------------------------------------------------------------------------------------------------------


def skipping(found):
    return {"passages": [p | {"rewritten_text": "", "skip_reason": "no need"} for p in found["passages"]]}


def rewriting(found):
    new = found["perturbed_value"]
    return {"passages": [p | {"rewritten_text": p["rewritten_text"] or f"It was {new}."} for p in found["passages"]]}


def inventing(found):
    made_up = {"passage_id": "cite_99", "rewritten_text": found["perturbed_value"], "skip_reason": ""}
    return {"passages": [*found["passages"], made_up]}


def test_one_that_rewrites_nothing_leaves_nothing_to_answer(evalpair, script):
    said = evalpair("data.limit=3", cast=cast(script("nothing", changed(skipping))), fails=True)
    assert "none of the 3 records has a perturbation that changes a passage" in said and "stage perturb" in said


def test_one_that_cannot_be_read_leaves_nothing_to_answer(evalpair, script):
    said = evalpair("data.limit=3", cast=cast(script("prose", lambda request: "Certainly! Here you go.")), fails=True)
    assert "3 of 3 rows have no result (3 unreadable)" in said and "constrained=true" in said
    assert "none of the 3 records" in said


@pytest.mark.parametrize(("change", "gate"), [(rewriting, "scope"), (inventing, "ids")])
def test_a_faulty_one_is_a_diagnostic_with_the_reason(evalpair, script, change, gate):
    folder = evalpair("data.limit=3", cast=cast(script(gate, changed(change))))
    pool = stage(folder, "pool")
    assert set(pool["status"]) == {"diagnostic"} and pool["failed"].str.contains(gate).all()
    gates = stage(folder, "validate").query("gate == @gate")
    assert (gates["passed"].astype(str) == "False").all() and gates["evidence"].ne("").all()
    rows = verdicts.read([folder / "verdicts.parquet"])
    assert len(rows) == 3 and set(rows["status"]) == {"diagnostic"}


def test_of_two_perturbers_the_one_without_fault_is_taken(evalpair, script):
    odd = script("nothing", changed(skipping))
    folder = evalpair("data.limit=4", cast=["perturbers=[" + odd + ",scripted]", *cast()[1:]])
    assert set(stage(folder, "pool")["perturber"]) == {"scripted"}
    assert set(stage(folder, "perturb")["perturber"]) == {odd, "scripted"}


def test_how_much_was_changed_is_evidence(evalpair):
    gates = stage(evalpair("data.limit=3"), "validate").query("gate == 'unchanged'")
    assert gates["evidence"].str.fullmatch(r"characters changed: cite_\d+ \d+%(, cite_\d+ \d+%)*").all()


# Validators ---------------------------------------------------------------------------------------------------------


def test_validators_that_disagree(evalpair, script):
    strict = script("strict", changed(lambda found: {"leakage": False, "leakage_evidence": "It shows."}))
    folder = evalpair("data.limit=3", cast=cast(validators=("scripted", strict)))
    gates = stage(folder, "validate").query("by == 'model'")
    assert gates.groupby("validator").size().to_dict() == {"scripted": 15, strict: 15}
    leaks = gates.query("gate == 'leakage'").set_index("validator")["passed"].astype(str)
    assert set(leaks["scripted"]) == {"True"} and set(leaks[strict]) == {"False"}
    assert set(stage(folder, "pool")["failed"]) == {"leakage"}


def test_a_validator_that_cannot_be_read_passes_nothing(evalpair, script):
    mute = script("mute", lambda request: "")
    folder = evalpair("data.limit=3", cast=cast(validators=("scripted", mute)))
    assert set(stage(folder, "pool")["status"]) == {"diagnostic"}
    assert any(f"{mute} leaves gates open, which are then not passed: 3 of 3" in note for note in notes(folder))
    left = stage(folder, "validate").query("validator == @mute")
    assert set(left["passed"].astype(str)) == {""} and set(left["reading"]) == {"unreadable"}


# Generators, labeller -----------------------------------------------------------------------------------------------


def test_a_generator_that_refuses_is_labelled_and_judged(evalpair, script):
    def refuse(request):
        return Completion("", "refused", note="not this one")

    folder = evalpair("data.limit=3", cast=cast(generators=("scripted", script("shy", refuse))))
    rows = verdicts.read([folder / "verdicts.parquet"]).query("generator == 'scripted:shy'")
    assert len(rows) == 3 and rows["answer_refused"].all() and (rows["gold"] == "NO_ERROR").all()
    metrics = pd.read_csv(folder / "metrics.csv")
    own = metrics.query("metric == 'self_flagged_refusals' and generator == 'scripted:shy'")
    assert own["value"].tolist() == [3]


def test_answers_cut_short_are_asked_again_only_on_request(evalpair, script):
    def cut(request):
        whole = grounded_reply(request)
        short = request.sampling.max_tokens <= 1024
        return Completion(whole[:25], "truncated", "length") if short else whole

    odd = cast(generators=("scripted", script("cut", cut)))
    folder = evalpair("data.limit=3", cast=odd)
    lost = stage(folder, "generate").query("generator == 'scripted:cut'")
    assert set(lost["outcome"]) == {"truncated"} and lost["reply"].str.startswith('{"answer": "').all()
    assert set(verdicts.read([folder / "verdicts.parquet"])["generator"]) == {"scripted"}
    assert any("3 truncated" in note for note in notes(folder))
    assert any("again=1" in note for note in notes(folder))
    folder = evalpair("data.limit=3", "again=1", cast=odd)
    assert len(verdicts.read([folder / "verdicts.parquet"])) == 6


def test_no_generator_with_an_answer(evalpair, script):
    said = evalpair("data.limit=2", cast=cast(generators=(script("mute", lambda request: "?"),)), fails=True)
    assert "nothing to judge" in said


def test_a_labeller_that_cannot_be_read_leaves_answers_unlabelled(evalpair, script):
    folder = evalpair("data.limit=3", cast=[*cast()[:-1], "labeller=" + script("mute", lambda request: "?")])
    rows = verdicts.read([folder / "verdicts.parquet"])
    assert rows["gold"].isna().all() and set(rows["behaviour"]) == {""} and set(rows["outcome"]) == {"ok"}


# Judges -------------------------------------------------------------------------------------------------------------


def test_a_missing_judge_leaves_complete_answers_to_the_paired_effect(evalpair, script):
    def sometimes(request):
        return "?" if request.call_seed & 1 else grounded_reply(request)

    odd = script("sometimes", sometimes)
    folder = evalpair(
        "data.limit=12", cast=cast(generators=("scripted", odd), judges=("scripted", "scripted:first", odd))
    )
    rows = verdicts.read([folder / "verdicts.parquet"])
    lost = rows.query("outcome == 'unreadable'")
    assert 0 < len(lost) < len(rows) / 3 and (lost["reply"] == "?").all()
    answers = rows[["item", "generator"]].drop_duplicates()
    incomplete = lost[["item", "generator"]].drop_duplicates()
    effect = pd.read_csv(folder / "metrics.csv").query(
        "metric == 'all_delta' and slice == 'overall' and generator == '*'"
    )
    assert effect["n"].tolist() == [len(answers) - len(incomplete)]
    assert (
        f"{len(incomplete)} of {len(answers)} answers left out, without the verdicts to pair" in effect["note"].iloc[0]
    )
    assert any(f"judge {odd}: {len(lost)} of" in note for note in notes(folder))


def test_one_judge_has_a_matrix_and_a_reason_for_what_it_has_not(evalpair, capsys):
    from analysis.__main__ import main as analysis

    folder = evalpair("data.limit=3")
    assert (folder / "tables" / "matrix.csv").exists() and not (folder / "tables" / "paired.csv").exists()
    words = ["evalpair", str(folder / "verdicts.parquet"), "--out", str(folder / "again"), "--replicates", "0"]
    assert analysis(words) == 0
    assert "no table paired: needs at least two judges" in capsys.readouterr().err


# Texts --------------------------------------------------------------------------------------------------------------


def test_hostile_texts_go_through_the_tables_and_back_as_they_were(evalpair, script):
    odd = script(
        "odd", changed(lambda found: {"note": "=1+1", "atomic_claim_original": "@x", "atomic_claim_perturbed": "-y"})
    )
    texts = iter(HOSTILE * 9)
    wrote = []

    def write(request):
        wrote.append(next(texts))
        return json.dumps({"answer": wrote[-1], "cited_passage_ids": ["=2"], "is_refusal": False, "notes": "+3"})

    folder = evalpair(f"data.limit={len(HOSTILE)}", cast=cast(odd, generators=(script("writer", write),)))
    assert stage(folder, "generate")["answer"].tolist() == [text.strip() for text in wrote]
    assert set(stage(folder, "perturb")["note"]) == {"=1+1"} and set(stage(folder, "perturb")["claim"]) == {"@x"}
    for name in ("select", "perturb", "validate", "pool", "generate", "label"):
        cells = pd.read_csv(folder / "stages" / f"{name}.csv", dtype=str, keep_default_na=False)
        assert not cells.apply(lambda column: column.str.match(r"[=+@\t\r]|-\D")).any(axis=None)
    rows = verdicts.read([folder / "verdicts.parquet"])
    found = cases.sources(folder, rows, ())
    assert sorted(found.answers.values()) == sorted(text.strip() for text in wrote)


# What a run says of itself ------------------------------------------------------------------------------------------


def test_a_dry_run_says_where_it_ends(evalpair):
    evalpair("data.limit=3", "dry_run=true")
    assert "dry run: 3 calls of scripted" in evalpair.said and "nothing was asked" in evalpair.said
    assert "ends here, in stage perturb" in evalpair.said
    evalpair("data.limit=3", "stage=perturb")
    evalpair("data.limit=3", "dry_run=true")
    assert "ends here, in stage validate" in evalpair.said


def test_the_manifest_reckons_what_each_priced_model_has_cost(evalpair, script, monkeypatch):
    from experiments import configuration

    price = {"input": 1.0, "output": 10.0, "as_of": "2026-11-01"}
    known = configuration.judge
    monkeypatch.setattr(
        configuration, "judge", lambda name: {**known(name), **({"price": price} if name.endswith("paid") else {})}
    )
    paid = script("paid", lambda r: Completion(grounded_reply(r), prompt_tokens=1000, completion_tokens=100))
    folder = evalpair("data.limit=3", cast=cast(judges=("scripted", paid)))
    cost = json.loads((folder / "manifest.json").read_text())["cost"]
    assert cost["usd"] == pytest.approx(3 * (1000 * 1.0 + 100 * 10.0) / 1e6)
    assert list(cost["models"]) == [paid] and cost["price"]["as_of"] == "2026-11-01"
    assert "cost" not in json.loads((evalpair("data.limit=3") / "manifest.json").read_text())
