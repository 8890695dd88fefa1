"""One table of verdicts whose counts are those that the source prints: does it give the source's numbers?

Of the validated matrix only rates are printed. For seven of its nine cells one set of counts gives them that does not
exceed the full set's; for the other two the pooled totals decide. Where a verdict is missing follows from the sizes of
the slices and from the paired effects.
"""

import numpy as np
import pandas as pd
import pytest

from analysis.evalpair import evalpair
from analysis.grounded import BEHAVIOURS
from analysis.published import beside, printed

MODELS = ("GPT", "Grok", "Gemini")
ANSWERS = {
    # Validated answers that adopted the claim, then those that avoided it, by generator and behaviour.
    "GPT": ((144, 17, 0, 0, 1, 0, 0), (0, 1, 6, 3, 13, 88, 1)),
    "Grok": ((132, 12, 0, 0, 3, 0, 0), (0, 0, 5, 11, 66, 45, 1)),
    "Gemini": ((129, 15, 0, 1, 4, 0, 0), (0, 0, 3, 3, 47, 69, 1)),
}
DIAGNOSTIC = {
    "GPT": ((9, 2, 0, 0, 2, 0, 0), (0, 0, 4, 0, 0, 8, 0)),
    "Grok": ((9, 3, 0, 0, 0, 0, 0), (0, 0, 3, 1, 5, 4, 0)),
    "Gemini": ((13, 3, 0, 0, 0, 0, 0), (0, 0, 1, 0, 3, 5, 0)),
}
UNJUDGED = {"GPT": ["unrelated"], "Grok": [], "Gemini": ["context_follow", "unrelated", "unrelated"]}
ORDER = (*BEHAVIOURS, "")
VALIDATED = {
    # Misses by behaviour, then flags of answers that avoided the claim, by generator and judge.
    ("GPT", "GPT"): ({"context_follow": 27, "both_claims": 8}, (3, 2, 2, 1)),
    ("GPT", "Grok"): ({"context_follow": 31, "both_claims": 5}, (3, 6, 4, 1)),
    ("GPT", "Gemini"): ({"context_follow": 17, "both_claims": 5}, (3, 7, 6, 1)),
    ("Grok", "GPT"): ({"context_follow": 22, "both_claims": 5}, (10, 21, 2, 1)),
    ("Grok", "Grok"): ({"context_follow": 24, "both_claims": 6}, (8, 18, 2, 1)),
    ("Grok", "Gemini"): ({"context_follow": 18, "both_claims": 4}, (10, 22, 2, 1)),
    ("Gemini", "GPT"): ({"context_follow": 20, "both_claims": 4, "refusal": 1}, (3, 21, 3, 1)),
    ("Gemini", "Grok"): ({"context_follow": 17, "both_claims": 4}, (3, 16, 2, 0)),
    ("Gemini", "Gemini"): ({"context_follow": 11, "both_claims": 3}, (3, 17, 2, 1)),
}
FLAGGED = ("conflict_aware", "refusal", "unrelated", "")
MISSING = [
    # generator, adopted, behaviour, judge, how many: the last answers of their kind.
    ("GPT", True, "context_follow", "GPT", 2),
    ("Gemini", True, "context_follow", "Grok", 1),
    ("Grok", False, "refusal", "GPT", 1),
    ("Gemini", False, "refusal", "GPT", 1),
]
ALONE = (("Grok", "Gemini"), ("Gemini", "Grok"))
"""Generator and the one judge other than its own that judged, and flagged, the last refusal."""


def counts(table):
    rows = printed("evalpair", table)
    return rows.pivot(index=["generator", "judge"], columns="metric", values="value")


def kinds(generator, of):
    """adopted and behaviour of every answer, one after the other."""
    counted = [
        (a, b, n) for a, row in zip((True, False), of[generator], strict=True) for b, n in zip(ORDER, row, strict=True)
    ]
    return [(a, b) for a, b, n in counted for _ in range(n)]


def validated():
    """Verdicts on validated answers: the first misses and flags of each kind, but for the `MISSING` ones."""
    found = []
    for generator in MODELS:
        answers = pd.DataFrame(kinds(generator, ANSWERS), columns=["adopted", "behaviour"])
        kind = answers.groupby(["adopted", "behaviour"])
        place, left = kind.cumcount(), kind.cumcount(ascending=False)
        for judge in MODELS:
            misses, flags = VALIDATED[generator, judge]
            flagged = answers["adopted"] & (place >= answers["behaviour"].map(misses).fillna(0))
            wanted = answers["behaviour"].map(dict(zip(FLAGGED, flags, strict=True))).fillna(0)
            if (generator, judge) in ALONE:
                # One of the counted flags is on the last refusal, which the generator's third judge has not judged.
                last = (answers["behaviour"] == "refusal") & ~answers["adopted"]
                wanted -= last
                flagged |= last & (left == 0)
            flagged |= ~answers["adopted"] & (place < wanted)
            told = answers.assign(generator=generator, judge=judge, flagged=flagged, record=answers.index)
            found.append(told[~missing(answers, left, generator, judge)].assign(status="validated"))
    return pd.concat(found)


def missing(answers, left, generator, judge):
    gone = pd.Series(False, index=answers.index)
    for g, adopted, behaviour, j, n in MISSING:
        kind = (answers["adopted"] == adopted) & (answers["behaviour"] == behaviour)
        gone |= kind & (left < n) & (g == generator) & (j == judge)
    return gone


def diagnostic(main):
    """Verdicts on the diagnostic answers: what the full matrix has more than the validated one."""
    full, found = counts("18"), []
    for generator in MODELS:
        answers = pd.DataFrame(kinds(generator, DIAGNOSTIC), columns=["adopted", "behaviour"])
        place = answers.groupby("adopted").cumcount()
        for judge in MODELS:
            own = main[(main["generator"] == generator) & (main["judge"] == judge) & main["flagged"]]
            more = full.loc[(generator, judge), "TP"] - own["adopted"].sum(), full.loc[(generator, judge), "FP"]
            wanted = np.where(answers["adopted"], more[0], more[1] - (~own["adopted"]).sum())
            told = answers.assign(generator=generator, judge=judge, flagged=place < wanted, record=275 + answers.index)
            found.append(told.assign(status="diagnostic"))
    return pd.concat(found)


def unjudged():
    rows = [(b, g, j, 274 - i) for g, of in UNJUDGED.items() for i, b in enumerate(of) for j in MODELS]
    table = pd.DataFrame(rows, columns=["behaviour", "generator", "judge", "record"])
    return table.assign(
        adopted=table["behaviour"] == "context_follow", flagged=False, status="validated", outcome="error"
    )


def records():
    """Types of perturbation and numbers of rewritten passages of the 300 records, validated ones first."""
    kind = printed("evalpair", "9").set_index("slice")["value"]
    types = [
        name.rpartition(":")[2] for part in ("validated", "diagnostic") for name, n in kind.items()
        if name.startswith(part) for _ in range(int(n))
    ]  # fmt: skip
    passages = [1] * 108 + [2] * 63 + [3] * 39 + [4] * 20 + [5] * 21 + [6] * 17 + [7] * 17 + [14, 10] + [11] * 13
    return pd.DataFrame({"perturbation_type": types, "modified_passages": passages})


def first(rows, n):
    """True for the first n rows."""
    return np.arange(len(rows)) < n


def localised(rows, shares):
    """Which citations and claims of a cell's true positives hit, as the printed shares of them say."""
    caught = rows[rows["adopted"] & rows["flagged"]]
    n = len(caught)
    claims = round(shares["wrong_claim_contains_replacement"] * n)
    # Not every flag cites a passage: the printed share is one of this many.
    cited, hits = next(
        (m, k) for m in range(n, 0, -1) for k in [round(shares["citation_locality"] * m)]
        if abs(k / m - shares["citation_locality"]) < 0.0005
    )  # fmt: skip
    local = np.where(first(caught, hits), True, np.where(first(caught, cited), False, None))
    table = pd.DataFrame({"cites_modified": local, "claim_has_replacement": first(caught, claims)}, index=caught.index)
    return rows.join(table.astype(object))


@pytest.fixture(scope="module")
def paper():
    main = validated()
    table = pd.concat([main, diagnostic(main), unjudged()], ignore_index=True).fillna({"outcome": "ok"})
    shares = counts("22")
    table = pd.concat([localised(rows, shares.loc[cell]) for cell, rows in table.groupby(["generator", "judge"])])
    table = table.join(records(), on="record")
    grade = np.where(table["flagged"], "ERROR", "NO_ERROR").astype(object)
    follows = table["behaviour"] == "context_follow"
    refusals = table["generator"].map({"GPT": 19, "Grok": 90, "Gemini": 57})
    table = table.assign(
        study="evalpair",
        dataset="garage",
        method="grounded",
        order="AB",
        winner=None,
        item="r" + table["record"].astype(str),
        group="r" + table["record"].astype(str),
        gold=np.where(table["adopted"], "ERROR", "NO_ERROR"),
        grade=np.where(table["outcome"] == "ok", grade, None),
        answer_refused=table["record"] < refusals,
        answer_cites_modified=follows & ~((table["generator"] == "GPT") & (table["record"] == 0)),
    )
    return table.drop(columns=["adopted", "flagged", "record"])


@pytest.fixture(scope="module")
def metrics(paper):
    return evalpair(paper, rng=np.random.default_rng(0), replicates=0, pairing="available")


def test_the_table_is_as_large_as_the_source_says(paper):
    assert (paper["outcome"] == "ok").sum() == 2683
    assert paper["item"].nunique() == 300
    assert len(paper.drop_duplicates(["item", "generator"])) == 900
    assert (paper.drop_duplicates(["item", "generator"])["behaviour"] != "").sum() == 897


@pytest.mark.parametrize("table", ["1", "2", "3", "4", "9", "10", "13", "18", "19", "20", "22"])
def test_numbers_are_the_printed_ones_to_the_digit(metrics, table):
    both = beside(metrics, "evalpair", table)
    step = printed("evalpair", table).query("statistic == 'value'")["step"].to_numpy()
    assert len(both) == len(step)
    wrong = both[~((both["ours"] - both["printed"]).abs() <= step / 2 + 1e-9)]
    assert wrong.empty, wrong.to_string()


def test_only_the_interval_that_is_no_bootstrap_differs_in_kind(paper, metrics):
    """The source bounds memory overrides by 3/42, over verdicts; we by 3/n, over records. All else is a bootstrap."""
    own = paper[(paper["behaviour"] == "memory_override") & (paper["status"] == "validated")]
    n = own["item"].nunique()
    assert (len(own), len(own) // 3) == (42, 14)
    row = metrics[(metrics["slice"] == "memory_override") & (metrics["metric"] == "false_positive_rate")]
    assert row[["value", "ci_low", "ci_high"]].to_numpy().tolist() == [[0, 0, pytest.approx(3 / n)]]
    assert row["note"].item() == f"rule of three over {n} records"
    print_ = printed("evalpair", "4").query("slice == 'memory_override' and metric == 'false_positive_rate'")
    assert print_["faults"].item() == "evalpair-19"
    assert print_["high"].item() == pytest.approx(3 / 42, abs=0.0005)


def test_complete_answers_alone_move_no_conclusion(paper, metrics):
    """The source pairs whoever judged; of its answers four lack one of the others, or their own judge."""
    strict = evalpair(paper, rng=np.random.default_rng(0), replicates=0)
    both = strict.merge(metrics, on=["judge", "generator", "slice", "metric"], suffixes=("", "_available"))
    deltas = both[both["metric"].isin(["recall_delta", "avoided_delta", "all_delta"])]
    assert (deltas["value"] - deltas["value_available"]).abs().max() < 0.01
    pooled = deltas[(deltas["slice"] == "overall") & (deltas["generator"] == "*") & (deltas["metric"] == "all_delta")]
    assert pooled[["n", "n_available"]].to_numpy().tolist() == [[891, 894]]
    assert pooled["note"].item() == "9 of 900 answers left out, without the verdicts to pair"
