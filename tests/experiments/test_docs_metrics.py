"""docs/metrics.md names every metric that a metrics.csv can hold, and no other."""

import re
from pathlib import Path

import pytest

from analysis.calibration import BINS
from analysis.confusion import COUNTS, RAW
from analysis.evalpair import EFFECTS, WAYS
from analysis.evalpair_tables import GENERATION
from analysis.expected import NUMBERS
from analysis.expected_audit import COSTS
from analysis.matched import By
from analysis.quality import CALIBRATED, MEANS, RANKED
from analysis.serving import METRICS as SERVED
from analysis.serving_tables import EXTREMES
from analysis.strata import PUSHBACK
from analysis.studies import STUDIES
from analysis.swapref import COUNT
from experiments.card_record import Card

TEXT = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([\w ]+)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
FURTHER = {
    "trust": ["delta_T_fmt"],
    "swapref": [COUNT],
    "refsense": [f"same_{by}_delta" for by in By.__args__],
    "evalpair": [
        *COUNTS, *RAW, *GENERATION, "verdicts", "answers", "share", "records", "context_follow_rate",
        *(prefix + effect for _, prefix in WAYS for effect in EFFECTS), *(f"{name}_rate" for name in PUSHBACK),
        *(f"f1_{end}_mean" for end in ("row", "column", "diagonal", "off_diagonal")),
        *(f"modified_passages_{name}" for name in ("median", "mean", "max")),
    ],
    "confidence": [*RANKED, *MEANS, *CALIBRATED, *NUMBERS, *COSTS],
    "serving": [*(m.name for m in SERVED), *EXTREMES],
}  # fmt: skip
PATTERNS = {"accuracy_at_coverage_X": r"accuracy_at_coverage_0\.\d", "coverage_at_risk_X": r"coverage_at_risk_0\.\d+"}
PATTERNS |= {f"{name}_in_A-B": rf"{name}_in_\d\.\d-\d\.\d" for name in ("confidence", "accuracy")}


def names_of(study):
    own = STUDIES[study].metric_names if study in STUDIES else ()
    return {*own, *FURTHER.get(study, ())}


def documented(study):
    rows = re.findall(r"^\| (`.*?) \|", SECTIONS[study], re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def covers(name, metric):
    return name == metric or bool(name in PATTERNS and re.fullmatch(PATTERNS[name], metric))


@pytest.mark.parametrize("study", [*STUDIES, "serving"])
def test_every_metric_is_documented_and_nothing_else(study):
    told, real = documented(study), names_of(study)
    assert not [m for m in real if not any(covers(name, m) for name in told)]
    assert not [name for name in told if not any(covers(name, m) for m in real)]


@pytest.mark.parametrize("study", [*STUDIES, "serving"])
def test_every_section_says_what_unreadable_verdicts_do(study):
    rules = STUDIES[study].rules if study in STUDIES else ()
    first = SECTIONS[study].strip().splitlines()[0]
    assert first.startswith("Rule: " if rules else "No rule")
    assert all(f"`{rule}`" in first for rule in rules)


def test_every_field_of_a_card_is_documented():
    told = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", SECTIONS["Judge cards"], re.M))))
    assert told == set(Card.model_fields)


def test_examples_are_right():
    """The sums in the column of examples: `134/143 = 0.937`, `0.86 (0.645 − 0.055) = 0.507`."""
    sums = re.findall(r"([\d.,/()+·− ]*[/·−+(][\d.,/()+·− ]*) = (−?[\d.]*\d(?:/\d+)?)", TEXT)
    assert len(sums) > 10
    for left, right in sums:
        plain = re.sub(r"(?<=\d) (?=\()", "*", left.strip().replace("−", "-").replace("·", "*"))
        said, digits = eval(right.replace("−", "-")), len(right.partition(".")[2])
        assert eval(plain, {"__builtins__": {}}) == pytest.approx(said, abs=0.51 * 10.0**-digits if digits else 1e-9), (
            left
        )
    assert BINS == 10
