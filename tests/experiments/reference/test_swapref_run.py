"""swapref from its command to its numbers, on judges whose results can be worked out by hand."""

import pandas as pd
import pytest

from experiments.swapref import material
from judges.construction import Writer
from judges.records import UserError

ALL = "swap=[type_preserving,type_changing,popularity_high,popularity_low,evaluator_knowledge]"
PAIRINGS = ("accuracy_oo", "accuracy_os", "accuracy_so", "accuracy_ss", "ACC_o", "ACC_s", "RPAG")


def numbers(ran, form="standard"):
    """For each swap the four pairings (reference first), ACC_o, ACC_s and RPAG."""
    table = ran.metrics
    table = table[(table["format"] == form) & table["metric"].isin(PAIRINGS)]
    wide = table.pivot(index="slice", columns="metric", values="value")[list(PAIRINGS)]
    return {name: [round(float(x), 9) for x in row] for name, row in wide.iterrows() if "/" not in name}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        # CORRECT exactly where reference and candidate come from one side: right everywhere.
        ("follows_reference", [1, 1, 1, 1, 1, 1, 0]),
        # CORRECT always: right on the two matching pairings.
        ("accepts_all", [1, 0, 0, 1, 0.5, 0.5, 0]),
    ],
)
def test_a_judge_of_known_behaviour(study, script, expected):
    ran = study("swapref", f"model.script={script}", ALL, "data.limit=36")
    found = numbers(ran)
    assert set(found) >= {
        "type_preserving",
        "type_changing",
        "popularity_high",
        "popularity_low",
        "evaluator_knowledge",
    }
    assert all(row == expected for row in found.values())


def test_a_judge_that_believes_only_itself_and_knows_the_truth(study, knowledge):
    ran = study(
        "swapref",
        "model.script=believes_itself",
        "engine=scripted",
        f"engine.knowledge={knowledge}",
        ALL,
        "data.limit=36",
    )
    # CORRECT exactly where the candidate is the original one: right under the original reference, wrong under another.
    assert all(row == [1, 1, 0, 0, 1, 0, 1] for row in numbers(ran).values())
    # It never disagrees with the reference, so there is nothing to swap in of its own.
    assert "evaluator_knowledge" not in numbers(ran)
    assert any(note.startswith("swap evaluator_knowledge: 0 of 36 items") for note in ran.notes)


def test_a_judge_with_beliefs_of_its_own(study):
    found = numbers(study("swapref", "model.script=believes_itself", ALL, "data.limit=36"))
    # INCORRECT always where nobody says what it believes: right on the two mixed pairings.
    assert found["type_preserving"] == found["type_changing"] == [0, 1, 1, 0, 0.5, 0.5, 0]
    # Where the swapped answer is what it believes, it is wrong under the original reference and right under its own.
    assert found["evaluator_knowledge"] == [0, 0, 1, 1, 0, 1, -1]


def test_a_judge_that_flips_a_quarter_of_its_verdicts(study):
    ran = study("swapref", "model.script=flips_at_random", "swap=type_preserving")
    found = numbers(ran)["type_preserving"]
    n = len(ran.verdicts) // 8  # strategies standard and direct, four triplets
    assert n > 300
    spread = (0.25 * 0.75 / n) ** 0.5
    assert all(abs(x - 0.75) < 4 * spread for x in found[:4])
    assert abs(found[6]) < 4 * spread * 2**0.5


def test_every_strategy_asks_as_often_as_it_says(study):
    formats = "format=[standard,direct,cot,self_consistency,cot_self_consistency]"
    ran = study("swapref", "model.script=follows_reference", formats, "data.limit=12", "swap=type_changing")
    table = ran.verdicts
    calls = table["requests"].str.split().str.len().groupby(table["format"]).unique()
    assert {name: list(n) for name, n in calls.items()} == {
        "standard": [1], "direct": [1], "cot": [1], "self_consistency": [5], "cot_self_consistency": [5],
    }  # fmt: skip
    assert set(table.loc[table["format"].str.endswith("consistency"), "temperature"]) == {0.6}
    assert table["outcome"].eq("ok").all()
    for name in calls.index:
        assert numbers(ran, name)["type_changing"] == [1, 1, 1, 1, 1, 1, 0]


def test_the_rows_are_as_agreed(study):
    ran = study("swapref", "model.script=follows_reference", "data.limit=12", "format=standard")
    table = ran.verdicts
    assert set(table["reference"]) == set(table["candidate"]) == {"original", "swapped"}
    assert (
        table["gold"] == (table["reference"] == table["candidate"]).map({True: "CORRECT", False: "INCORRECT"})
    ).all()
    assert set(table["method"]) == {"pointwise"}
    assert {"freshness", "popularity"} <= set(table)
    # The triplet of originals is in every swap, and one call is behind it.
    originals = table[(table["reference"] == "original") & (table["candidate"] == "original")]
    assert (originals.groupby("item")["requests"].nunique() == 1).all()
    assert (originals.groupby("item")["swap"].nunique() > 1).all()


def test_what_is_left_out_is_counted_and_named(study, tmp_path):
    ran = study("swapref", "model.script=accepts_all", "data.limit=12", "swap=type_preserving", "format=standard")
    sample = pd.read_csv(ran.folder / "stages" / "sample.csv", dtype=str, keep_default_na=False)
    sample.loc[0, "entity_type"] = "comet"
    sample.loc[1, "entity_type"] = ""
    sample.loc[1, ["question", "answers"]] = ["What is it called?", '["Ulysses"]']
    sample.to_csv(ran.folder / "stages" / "sample.csv", index=False)
    ran = study("swapref", "model.script=accepts_all", "data.limit=12", "swap=type_preserving", "format=standard")
    out = sample["item"].tolist()
    assert any("edited by hand" in note for note in ran.notes)
    told = next(note for note in ran.notes if note.startswith("swap type_preserving: 2 of 12 items left out"))
    assert "no other answer of type comet (1)" in told and "the type of its answer is not known (1)" in told
    assert out[0] in told and out[1] in told
    swaps = ran.stage("swap")
    assert dict(zip(swaps["item"], swaps["outcome"], strict=True))[out[0]] == "excluded"
    assert not set(out[:2]) & set(ran.verdicts["item"])


def test_an_edited_candidate_is_judged_and_one_that_names_both_is_left_out(study):
    words = ("model.script=follows_reference", "data.limit=6", "swap=type_preserving", "format=standard")
    ran = study("swapref", *words)
    swap = ran.stage("swap").set_index("item")
    first = swap.index[0]
    # A writer that names both entities: the check counts it, and the swap has no sentence for one of its answers.
    folder = ran.folder / "stages"
    text = (folder / "swap.csv").read_text(encoding="utf-8")
    original = swap.loc[first, "original"]
    (folder / "swap.csv").write_text(
        text.replace(f",{swap.loc[first, 'swapped']},", f",{original} or so,", 1), encoding="utf-8"
    )
    ran = study("swapref", *words)
    candidates = ran.stage("candidates").set_index(["item", "side"])
    assert candidates.loc[(first, "swapped"), "outcome"] == "unreadable"
    assert candidates.loc[(first, "swapped"), "reason"] == "names the other answer, too"
    assert first not in set(ran.verdicts["item"])
    assert any("swaps lack a sentence for one of their answers" in note for note in ran.notes)


def test_a_writer_and_a_typer_may_be_models(study):
    makers = ("writer=scripted:accepts_all", "typer=scripted:accepts_all")
    words = ("model.script=follows_reference", "data.limit=12", "swap=type_preserving", "format=standard")
    ran = study("swapref", *words, *makers)
    assert numbers(ran)["type_preserving"] == [1, 1, 1, 1, 1, 1, 0]


def test_one_stage_at_a_time_and_fed_from_a_file(study, tmp_path):
    words = ("model.script=follows_reference", "data.limit=6", "swap=type_preserving", "format=standard")
    with pytest.raises(UserError, match=r"needs|not there"):
        study("swapref", *words, "writer=scripted:accepts_all", "stage=judge")
    ran = study(
        "swapref", *words, "writer=scripted:accepts_all", "stage=candidates", "stage.model=scripted:follows_reference"
    )
    table = pd.read_csv(ran.folder / "stages" / "candidates.csv", dtype=str, keep_default_na=False)
    own = tmp_path / "own.csv"
    table[table["item"] != table["item"].iloc[0]].to_csv(own, index=False)
    ran = study("swapref", *words, "stage=judge", f"stage.input={own}")
    assert ran.verdicts["item"].nunique() == table["item"].nunique() - 1


FEW = ("model.script=follows_reference", "data.limit=6", "swap=type_preserving", "format=standard")


def edited(ran, stage, change, path=None):
    table = pd.read_csv(ran.folder / "stages" / f"{stage}.csv", dtype=str, keep_default_na=False)
    change(table).to_csv(path or ran.folder / "stages" / f"{stage}.csv", index=False)


def put(column, value):
    def change(table):
        table.loc[0, column] = value
        return table

    return change


def test_sentences_on_other_answers_than_the_table_of_swaps_are_refused(study, tmp_path):
    ran, own = study("swapref", *FEW), tmp_path / "swap.csv"
    edited(ran, "swap", put("swapped", "Elsewhere"), own)
    study("swapref", *FEW, "stage=candidates", f"stage.input={own}")
    with pytest.raises(UserError, match=r"swap and candidates don't belong together.*a sentence on 'Elsewhere'"):
        study("swapref", *FEW, "stage=judge")
    own.replace(ran.folder / "stages" / "swap.csv")
    assert numbers(study("swapref", *FEW, "stage=judge"))["type_preserving"] == [1, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("stage", "column", "value", "said"),
    [
        ("swap", "swap", "my/own", "a swap called 'my/own'"),
        ("swap", "swap", "overall", "a swap called 'overall'"),
        ("swap", "swapped", " ", "no swapped answer for item"),
        ("candidates", "side", "left", "the side 'left'; it is one of original, swapped"),
        ("sample", "question", "", "the column question is empty"),
        ("sample", "popularity", "12,345", "popularity must hold a number or nothing; got '12,345'"),
        ("sample", "answers", "Rome", "answers must hold a JSON list"),
        ("sample", "item", "", "the column 'item' is empty in row 2"),
    ],
)
def test_a_fault_in_an_edited_table_is_named(study, stage, column, value, said):
    edited(study("swapref", *FEW), stage, put(column, value))
    with pytest.raises(UserError, match=said):
        study("swapref", *FEW)


def test_rows_that_fit_nothing_are_left_out_and_counted(study):
    ran = study("swapref", *FEW)
    edited(ran, "swap", put("item", "nosuch"))
    ran = study("swapref", *FEW)
    assert any("swap: 1 rows on questions that the sample lacks are left out: nosuch" in note for note in ran.notes)
    assert ran.verdicts["item"].nunique() == 5


def test_tables_of_another_sample_than_the_one_chosen_are_told_of(study):
    study("swapref", *FEW)
    more = [word.replace("limit=6", "limit=8") for word in FEW]
    ran = study("swapref", *more, "stage=judge")
    assert "sample: its table lacks 2 of the 8 questions that the settings choose" in ran.notes
    study("swapref", *more)
    ran = study("swapref", *FEW, "stage=judge")
    assert "sample: 2 of the 8 questions in its table are not among those chosen" in ran.notes


def test_an_emptied_candidate_is_not_judged(study):
    ran = study("swapref", *FEW)
    edited(ran, "candidates", put("text", ""))
    ran = study("swapref", *FEW)
    assert any("1 of 6 swaps lack a sentence" in note for note in ran.notes)
    assert numbers(ran)["type_preserving"] == [1, 1, 1, 1, 1, 1, 0]


def test_a_study_with_nothing_left_to_judge_says_so(study):
    ran = study("swapref", *FEW)
    edited(ran, "swap", lambda table: table.iloc[:0])
    with pytest.raises(UserError, match="nothing to judge"):
        study("swapref", *FEW)


def test_a_writer_named_for_its_stage_alone_is_asked_for_sentences(study, monkeypatch):
    asked = []
    monkeypatch.setattr(material, "Writer", lambda spec, prompt, thinking: asked.append(prompt) or Writer(spec, prompt))
    study("swapref", *FEW, "stage=swap")
    study("swapref", *FEW, "stage=candidates", "stage.model=scripted:accepts_all")
    assert "one complete sentence" in asked[0].instruction


def test_a_model_for_a_stage_that_asks_none_is_an_error(study):
    with pytest.raises(UserError, match="stage sample asks no model"):
        study("swapref", "stage=sample", "stage.model=scripted:accepts_all")


def test_misspelt_names_are_errors(study):
    with pytest.raises(UserError, match="pairs of answers"):
        study("swapref", data="verifiable")
    with pytest.raises(ValueError, match="no judge is called"):
        study("swapref", "writer=smolm2")
    with pytest.raises(ValueError, match="type_preserving"):
        study("swapref", "swap=type_preservin")
