import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import drawing, fonts
from analysis.__main__ import main
from analysis.agreement import cohen_kappa, percent_agreement
from analysis.columns import TableError
from analysis.compare import compare
from analysis.published import beside
from analysis.refsense import design, items, refsense
from analysis.refsense_extracts import exact, normalised, same
from analysis.refsense_people import agreement, annotators, kappa
from analysis.refsense_units import units
from analysis.studies import STUDIES, Options, find
from analysis.verdicts import check, write

SAID = {"C": ("CORRECT", "ok"), "I": ("INCORRECT", "ok"), "U": ("UNKNOWN", "ok"), "?": (None, "unreadable")}
FIXED = {"study": "refsense", "judge": "j", "dataset": "d", "order": "AB", "winner": None, "gold": None}


def rows(said, column, **columns):
    found = [
        {"item": item, column: name, "repeat": k, **dict(zip(("grade", "outcome"), SAID[v], strict=True))}
        for item, verdicts in said.items()
        for name, each in verdicts.items()
        for k, v in enumerate(each)
    ]
    return pd.DataFrame(found).assign(**{**FIXED, **columns})


def calibrations(said, **columns):
    """Written as `{item: (verdict on the right answer, on another item's)}`; "" was not judged."""
    shown = {item: dict(zip(("right", "other"), pair, strict=True)) for item, pair in said.items()}
    return rows(shown, "candidate", **({"reference": "NR"} | columns))


def answers(said, shown=("NR", "RV"), **columns):
    """Written as `{item: verdicts in the settings shown}`, one character a setting, a blank where it was not judged."""
    told = {item: dict(zip(shown, (v.strip() for v in verdicts), strict=True)) for item, verdicts in said.items()}
    return rows(told, "reference", **({"candidate": "", "generator": "m"} | columns))


def measured(table, **options):
    return refsense(table, rng=np.random.default_rng(0), **({"replicates": 0} | options))


def values(table, reference="", part="overall", **options):
    found = measured(table, **options)
    return found[(found["slice"] == part) & (found["reference"] == reference)].set_index("metric")["value"]


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (("C", "I"), [1, 0, 1]),  # knows the answers
        (("C", "C"), [1, 1, 0]),  # accepts everything
        (("I", "I"), [0, 0, 0]),  # rejects everything
        (("I", "C"), [0, 1, -1]),  # knows them, and lies
        (("U", "U"), [0, 0, 0]),  # never knows
    ],
)
def test_calibration_of_judges_of_known_behaviour(judge, expected):
    found = values(calibrations({"p": judge, "q": judge}))
    assert found[["C1", "C2", "CGP"]].tolist() == expected
    assert found["share_unknown"] == (judge[0] == "U")


def test_calibration_is_over_items_with_both_answers():
    table = calibrations({"p": ("C", "I"), "q": ("C", "C"), "r": ("I", "?"), "s": ("I", "")})
    dropped, rejected = values(table), values(table, unreadable="reject")
    assert dropped[["C1", "C2", "CGP"]].tolist() == [1, 1 / 2, 1 / 2]
    assert rejected[["C1", "C2", "CGP"]].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert dropped[["C2_worst", "C2_best"]].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert dropped[["CGP_worst", "CGP_best"]].tolist() == pytest.approx([0, 1 / 3])
    row = measured(table).set_index(["slice", "metric"]).loc[("overall", "CGP")]
    assert (row["n"], row["note"]) == (2, "undefined for 2 of 4")
    assert row["share_unreadable"] == pytest.approx(1 / 7)


def test_flips_and_their_directions_by_hand():
    """C>I twice, I>C once, C>U once, four as they were, two unread in one or the other."""
    said = dict(zip("abcdefghij", ("CI", "CI", "IC", "CU", "CC", "II", "UU", "CC", "C?", "?C"), strict=True))
    found = values(answers(said), "NR->RV")
    assert found["flip_rate"] == 4 / 8
    assert found[["over_credit", "under_credit", "unknown_credit"]].tolist() == [1 / 2, 1 / 4, 1 / 4]
    row = measured(answers(said)).query("metric == 'flip_rate' and slice == 'overall'").iloc[0]
    assert (row["n"], row["note"], row["share_unreadable"]) == (8, "undefined for 2 of 10", 2 / 20)
    assert values(answers(said), "NR")["share_correct"] == 6 / 9
    assert values(answers(said), "NR", unreadable="reject")["share_correct"] == 6 / 10
    assert values(answers(said), "RV")["share_unknown"] == 2 / 9


def test_a_judge_that_flips_at_random_at_a_known_rate():
    """Every verdict of NR is turned over in RV with probability 0.3, whatever it was; 0.6 of them are CORRECT."""
    rng = np.random.default_rng(2)
    first = rng.random(4000) < 0.6
    second = first ^ (rng.random(4000) < 0.3)
    said = {f"p{i}": "IC"[int(a)] + "IC"[int(b)] for i, (a, b) in enumerate(zip(first, second, strict=True))}
    found = values(answers(said), "NR->RV")
    assert found["flip_rate"] == pytest.approx(0.3, abs=0.025)
    assert found["over_credit"] == pytest.approx(0.6, abs=0.05)
    assert found["unknown_credit"] == 0


def test_the_generous_judge_of_the_source():
    """Accepts all without a reference, and with it the right answers alone: all flips are over-credit."""
    said = {"p": "CCC", "q": "CII", "r": "CII", "s": "CII"}
    table = answers(said, ("NR", "RV", "RC"))
    assert values(table, "NR")["share_correct"] == 1
    assert values(table, "RV")["share_correct"] == 1 / 4
    assert values(table, "NR->RV")[["flip_rate", "over_credit", "under_credit"]].tolist() == [3 / 4, 1, 0]
    still = values(table, "RV->RC")
    assert still["flip_rate"] == 0
    assert np.isnan(still["over_credit"])
    assert values(table, "NR->RC")["flip_rate"] == 3 / 4
    note = measured(table).query("reference == 'RV->RC' and metric == 'over_credit'")["note"].iloc[0]
    assert note == "undefined: no verdict differs between the settings"


def test_all_five_changes_and_no_others():
    table = answers({"p": "CICIC"}, ("NR", "RV", "RVP", "RC", "RCP"))
    found = measured(table).query("metric == 'flip_rate'").set_index("reference")["value"]
    assert found.to_dict() == {"NR->RV": 1, "RV->RC": 0, "NR->RC": 1, "RV->RVP": 1, "RC->RCP": 1}


def test_answers_that_lack_a_setting_are_counted():
    found = measured(answers({"p": "CI", "q": "C ", "r": " I"})).query("metric == 'flip_rate'").iloc[0]
    assert (found["n"], found["note"]) == (1, "undefined for 2 of 3")
    assert "flip_rate" not in set(measured(answers({"p": "C "}))["metric"])


def test_metrics_stand_only_where_they_are_about_something():
    table = pd.concat([calibrations({"p": ("C", "I")}), answers({"p": "CI"})], ignore_index=True)
    found = measured(table)
    where = found.groupby("reference")["metric"].apply(set).to_dict()
    assert where["NR"] == where["RV"] == {"share_correct", "share_unknown"}
    assert where["NR->RV"] == {"flip_rate", "over_credit", "under_credit", "unknown_credit"}
    assert {m.partition("_")[0] for m in where[""]} == {"C1", "C2", "CGP", "share"}
    assert set(found.loc[found["reference"] == "", "generator"]) == {""}


def test_repeats_are_compared_with_their_like():
    table = rows({"p": {"NR": "CI", "RV": "IC"}}, "reference", candidate="", generator="m")
    assert values(table, "NR->RV")["flip_rate"] == 1
    alike = rows({"p": {"NR": "CI", "RV": "CI"}}, "reference", candidate="", generator="m")
    assert values(alike, "NR->RV")["flip_rate"] == 0


@pytest.mark.parametrize(
    ("one", "other", "exactly", "nearly"),
    [
        ("Paris", " Paris ", True, True),
        ("caf\u00e9", "cafe\u0301", True, True),
        ("Paris.", "paris", False, True),
        ("\u0c22\u0c3f\u0c32\u0c4d\u0c32\u0c40", "\u0c22\u0c3f\u0c32\u0c4d\u0c32\u0c40.", False, True),
        ("\u0c22\u0c3f\u0c32\u0c4d\u0c32\u0c40", "\u0c22\u0c32\u0c32", False, False),  # without its vowel signs
        ("\u0661\u0669\u0665\u0660", "1950", False, True),
        ("\u200f\u0628\u0627\u0631\u064a\u0633\u060c", "\u0628\u0627\u0631\u064a\u0633", False, True),
        ("new  york", "New York", False, True),
        ("Paris", "London", False, False),
        (None, None, False, False),
        ("Paris", None, False, False),
    ],
)
def test_extracted_answers_are_the_same(one, other, exactly, nearly):
    pair = pd.Series([one], dtype=object), pd.Series([other], dtype=object)
    assert same(*pair, exact).tolist() == [exactly]
    assert same(*pair, normalised).tolist() == [nearly]


def test_extracted_answer_by_verdict():
    said = {"a": "CC", "b": "CI", "c": "CC", "d": "CI", "e": "C?", "f": "CC"}
    texts = {"a": ["x", "x"], "b": ["x", " x"], "c": ["X", "x"], "d": ["x", "y"], "e": ["x", "x"], "f": ["x", None]}
    table = answers(said).assign(extracted=[t for item in said for t in texts[item]])
    found = values(table, "NR->RV")
    assert found[["EAS_VS", "EAS_VC", "EAC_VS", "EAC_VC"]].tolist() == [1 / 4] * 4
    assert found[[f"{m}_norm" for m in ("EAS_VS", "EAS_VC", "EAC_VS", "EAC_VC")]].tolist() == [1 / 2, 1 / 4, 0, 1 / 4]
    row = measured(table).query("metric == 'EAS_VS'").iloc[0]
    assert (row["n"], row["note"]) == (4, "undefined for 1 of 5")


def test_agreement_with_people_by_hand():
    """The judge says C C I I U ?, the first person C I I P C C, the second only labels the first two, C and C."""
    said = dict(zip("abcdef", ("C", "C", "I", "I", "U", "?"), strict=True))
    table = answers(said, ("NR",)).assign(human=list("CIIPCC"), human_2=["C", "C", None, None, None, None])
    found = values(table, "NR")
    assert found["agreement"] == 3 / 5
    # By chance: judge C 2/5, I 2/5; person C 2/5, I 3/5: 4/25 + 6/25 = 2/5; kappa (3/5 - 2/5) / (3/5).
    assert found["kappa"] == pytest.approx(1 / 3)
    assert found["agreement_2"] == 1
    assert np.isnan(found["kappa_2"])
    assert values(table, "NR", partial="correct")["agreement"] == 2 / 5
    assert values(table, "NR", partial="drop")["agreement"] == 2 / 4
    row = measured(table).query("metric == 'agreement'").iloc[0]
    assert (row["n"], row["note"]) == (5, "undefined for 1 of 6")


@given(st.lists(st.tuples(st.sampled_from("CIU"), st.sampled_from("CI")), min_size=1, max_size=12))
@settings(max_examples=8)
def test_agreement_is_that_of_any_two_raters(pairs):
    table = answers({f"p{i:02}": judge for i, (judge, _) in enumerate(pairs)}, ("NR",)).assign(
        human=[h for _, h in pairs]
    )
    sums = {name: np.array(term.sum()) for name, term in design(table).terms.items()}
    judge, human = zip(*pairs, strict=True)
    assert agreement(sums) == pytest.approx(percent_agreement(judge, human))
    assert kappa(sums) == pytest.approx(cohen_kappa(judge, human), nan_ok=True)


def test_people_among_themselves():
    table = answers(dict.fromkeys("abcd", "C"), ("NR",)).assign(human=list("CIPC"), human_2=["C", "I", "I", None])
    both = pd.concat([table, table.assign(judge="k")], ignore_index=True)
    found = annotators(units(both)).iloc[0]
    assert found[["human C", "human P", "human_2 I"]].tolist() == [1 / 2, 1 / 4, 2 / 3]
    assert (found["agreement"], found["n"]) == (2 / 3, 3)
    with pytest.raises(TableError, match="no answer has a label"):
        annotators(units(answers({"p": "C"}, ("NR",))))
    with pytest.raises(TableError, match="to item a have several labels"):
        annotators(units(pd.concat([table, table.assign(judge="k", human="I")], ignore_index=True)))


def test_inventions_are_reported():
    table = answers({"p": "?", "q": "I", "r": "C"}, ("NR",))
    table = table.assign(answer_empty=[True, True, False], invented=[True, False, False])
    found = measured(table).set_index("metric")
    assert found.loc["share_invented", ["value", "n"]].tolist() == [1 / 2, 2]
    assert "share_invented" not in set(measured(table.assign(answer_empty=False))["metric"])


def test_languages_and_categories_are_slices():
    said = {"p": "CI", "q": "CC", "r": "CI", "s": "CC"}
    table = answers(said)
    table = table.assign(
        language=table["item"].map({"p": "te", "q": "te", "r": "en", "s": "en"}),
        source=table["item"].map({"p": "facts", "q": "facts", "r": "facts", "s": "en"}),
    )
    found = measured(table).query("metric == 'flip_rate'").set_index("slice")["value"]
    assert found.to_dict() == {
        "overall": 1 / 2,
        "en": 1 / 2,
        "te": 1 / 2,
        "facts": 2 / 3,
        "category en": 0,  # is no language
    }


def test_categories_that_only_say_the_language_again_are_no_slices():
    table = answers({"p": "CI", "q": "CC", "r": "CI"})
    spoken = table.assign(
        language=table["item"].map({"p": "te", "q": "te", "r": "en"}),
        source=table["item"].map({"p": "telugu", "q": "telugu", "r": "english"}),
    )
    assert set(measured(spoken)["slice"]) == {"overall", "te", "en"}
    monolingual = spoken.assign(language="te")
    assert set(measured(monolingual)["slice"]) == {"overall", "te", "telugu", "english"}


def matrix():
    """Judges a and b on the answers of a and b to two questions, in NR: each accepts its own, and b also q of a."""
    said = {("a", "a"): "CC", ("a", "b"): "II", ("b", "a"): "IC", ("b", "b"): "CC"}
    tables = [
        answers({"p": v[0], "q": v[1]}, ("NR",), judge=j, judge_family=f"{j}s", generator=g, generator_family=f"{g}s")
        for (j, g), v in said.items()
    ]
    return pd.concat(tables, ignore_index=True)


def test_own_answers_against_other_judges_on_the_same_answer():
    """a on its own less b: 1 and 0; b on its own less a: 1 and 1; the mean is 3/4."""
    found = measured(matrix(), replicates=50).query("judge == '*'").set_index(["generator", "metric"])["value"]
    assert found.to_dict() == pytest.approx(
        {(g, f"same_{by}_delta"): x for by in ("model", "family") for g, x in (("*", 3 / 4), ("a", 1 / 2), ("b", 1))}
    )
    alone = measured(matrix().query("judge == 'a'"))
    assert not set(alone["metric"]) & {"same_model_delta", "same_family_delta"}


def test_judges_that_judged_unlike_settings_are_not_compared():
    extra = answers({"p": "C"}, ("RV",), judge="a", generator="a")
    found = measured(pd.concat([matrix(), extra], ignore_index=True)).query("judge == '*'")
    assert set(found["reference"]) == {"NR"}


GRADES = st.sampled_from("CIU?")
SHOWN = ("NR", "RV", "RVP", "RC", "RCP")


@given(
    st.dictionaries(st.sampled_from("pqrst"), st.tuples(*[GRADES] * 5).map("".join), min_size=1),
    st.dictionaries(st.sampled_from("pqrst"), st.tuples(GRADES, GRADES), min_size=1),
    st.sampled_from(["drop", "reject"]),
)
@settings(max_examples=8)
def test_properties(said, shown, rule):
    table = pd.concat([answers(said, SHOWN), calibrations(shown)], ignore_index=True)
    found = measured(table, unreadable=rule)
    wide = found[found["slice"] == "overall"].pivot(index="reference", columns="metric", values="value")
    bounds = wide.drop(columns=["CGP", "CGP_worst", "CGP_best"]).stack()
    assert bounds.dropna().between(0, 1).all()
    own = wide.loc[""]
    assert own["CGP"] == pytest.approx(own["C1"] - own["C2"], nan_ok=True)
    assert own["CGP_worst"] <= own["CGP_best"] + 1e-12
    whole = wide[["over_credit", "under_credit", "unknown_credit"]].dropna().sum(axis=1)
    assert whole.tolist() == pytest.approx([1] * len(whole))
    read = [v for v in said.values() if "?" not in v[:2]]
    flips = [v[0] != v[1] for v in read]
    if read:
        assert wide.loc["NR->RV", "flip_rate"] == pytest.approx(np.mean(flips))
    shuffled = table.sample(frac=1, random_state=len(said)).reset_index(drop=True)
    pd.testing.assert_frame_equal(measured(shuffled, unreadable=rule), found)


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        (answers({"p": "C"}, ("NR",)), {"reference": "NRV"}, "'reference' must be one of NR, RV, RVP, RC, RCP"),
        (answers({"p": "C"}, ("NR",)), {"candidate": "original"}, "'candidate' must be empty, for a model's answer"),
        (answers({"p": "C"}, ("NR",)), {"human": "yes"}, "'human' must be one of C, I, P, .*row 0: 'yes'"),
        (answers({"p": "C", "q": "C"}, ("NR",)), {"human_2": ["C", "Q"]}, "'human_2' must be .*row 1: 'Q'"),
        (answers({"p": "C"}, ("NR",)), {"grade": "MAYBE"}, "'grade' must be one of CORRECT, INCORRECT, UNKNOWN"),
        (calibrations({"p": ("C", "I")}), {"gold": "CORRECT"}, "'gold' contradicts the candidate.*row 1"),
        (answers({"p": "CI"}), {"language": ["en", "te"]}, "'language' differs between rows of one item: rows 0, 1"),
    ],
)
def test_tables_of_something_else_are_refused(table, change, says):
    with pytest.raises(TableError, match=says):
        items(table.assign(**change))


def test_unknown_rules_are_refused():
    with pytest.raises(TableError, match="choose drop, reject"):
        design(answers({"p": "CI"}), unreadable="wrong")
    with pytest.raises(TableError, match="choose incorrect, correct, drop"):
        design(answers({"p": "CI"}), partial="half")


def audit():
    rng = np.random.default_rng(3)
    tables = []
    for judge in ("j", "m"):
        for language in ("en", "te"):
            said = {f"{language}{i}": "".join(rng.choice(list("CI"), 5)) for i in range(8)}
            told = {"judge": judge, "dataset": "tydiqa", "language": language}
            own = [answers(said, SHOWN, generator=g, **told) for g in ("m", "n")]
            shown = {item: tuple(v[:2]) for item, v in said.items()}
            tables += [*own, calibrations(shown, **told)]
    table = pd.concat(tables, ignore_index=True)
    on_answers = table["candidate"] == ""
    labels = table["item"].str[-1].map(lambda digit: "CIP"[int(digit) % 3])
    return table.assign(
        extracted="\u0c22\u0c3f\u0c32\u0c4d\u0c32\u0c40",
        human=labels.where(on_answers),
        human_2=labels.replace("P", "I").where(on_answers),
    )


def test_tables_are_laid_out_as_in_the_source():
    found = find(STUDIES["refsense"], audit(), Options("drop", replicates=0))
    assert not found.absent
    assert next(iter(found.tables)) == "calibration"
    assert list(found.tables["sensitivity"]) == [
        *("judge", "dataset", "generator", "slice", "NR", "RV", "RC", "NR->RV", "RV->RC", "NR->RC", "n", "unreadable")
    ]
    assert {"RV", "RVP", "RV->RVP", "RC", "RCP", "RC->RCP"} < set(found.tables["position"])
    assert {"EAS_VS", "EAC_VC_norm"} < set(found.tables["extracted"])
    assert found.tables["directions"]["reference"].nunique() == 5
    means = found.tables["human_by_judge"].query("judge == 'j' and slice == 'overall' and reference == 'RV'")
    each = found.metrics.query("judge == 'j' and slice == 'overall' and reference == 'RV' and metric == 'agreement'")
    assert means["agreement"].tolist() == [f"{each['value'].mean():.3f}"]
    assert found.tables["own_answers"]["contrast"].unique().tolist() == ["same_model"]
    assert found.tables["annotators"]["n"].tolist() == [8] * 4
    assert found.tables["policies"]["metric"].unique().tolist() == ["C1", "C2", "CGP"]


def test_tables_that_the_verdicts_do_not_allow_say_why():
    found = find(STUDIES["refsense"], answers({"p": "C"}, ("NR",)), Options("drop", replicates=0))
    assert "right and another answer" in found.absent["calibration"]
    assert "2 of the settings RV, RVP" in found.absent["position"]
    assert found.tables["sensitivity"].loc[0, ["NR", "RV", "n"]].tolist() == ["1.000", "–", 1]
    assert "two settings" in found.absent["directions"]
    assert "own model" in found.absent["own_answers"]
    assert "human" in found.absent["annotators"]
    for draw in STUDIES["refsense"].figures.values():
        draw(found.metrics)


def test_ours_beside_theirs():
    table = audit().replace({"judge": {"j": "gemini-3.1-flash-lite-preview"}, "generator": {"n": "sarvam-105b"}})
    found = beside(measured(table), "refsense", "6").query("ours == ours")
    assert found[["reference", "generator", "slice"]].drop_duplicates().to_numpy().tolist() == [
        ["RV", "Sarvam-105B", "en"],
        ["RVP", "Sarvam-105B", "en"],
    ]
    assert set(beside(measured(table), "refsense", "A.2").query("ours == ours")["metric"]) == {"C1"}


def test_judges_are_compared_where_they_have_the_metric():
    found = compare(design(audit()), "CGP", rng=np.random.default_rng(0), replicates=50)
    assert found[["judge_1", "judge_2", "n"]].to_numpy().tolist() == [["j", "m", 16]]
    flips = compare(design(audit()), "flip_rate", rng=np.random.default_rng(0), replicates=50)
    assert flips["reference"].nunique() == 5


def test_the_command_writes_tables_and_figures(tmp_path, capsys):
    write(check(audit()), tmp_path / "v.csv")
    out = tmp_path / "out"
    command = ["refsense", str(tmp_path / "v.csv"), "--out", str(out), "--replicates", "50", "--figures"]
    assert main([*command, "--partial", "drop"]) == 0
    assert "CGP" in capsys.readouterr().out
    figures = {path.stem for path in (out / "figures").iterdir()}
    assert figures == {"calibration", "correctness", "directions", "extracted"}
    assert "\u0c22\u0c3f\u0c32\u0c4d\u0c32\u0c40" in (out / "items.csv").read_text(encoding="utf-8")
    counted = pd.read_csv(out / "metrics.csv").query("metric == 'agreement' and slice == 'overall'")["n"]
    assert set(counted) == {12}  # Of 16 answers, four have a P.


def test_names_in_any_script_reach_the_figure_or_are_missed_aloud(tmp_path):
    telugu, arabic = "\u0c24\u0c46\u0c32\u0c41\u0c17\u0c41", "\u0639\u0631\u0628\u064a"
    table = answers({"p": "CI", "q": "CC"}, judge=telugu, dataset=arabic)
    figure = STUDIES["refsense"].figures["correctness"](measured(table))
    fonts._warn.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawing.save(figure, tmp_path / "f")
        drawing.save(figure, tmp_path / "f")
    said = [str(w.message) for w in caught]
    assert len(said) == ("Noto Sans Telugu" not in fonts.families())
    assert all("no installed font has Telugu letters" in s for s in said)
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert telugu in text
    assert arabic in text
