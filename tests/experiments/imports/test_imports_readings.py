import pytest

from experiments.imports.readings import (
    read_number,
    read_output,
    read_output_as_published,
    read_pair,
    read_rating,
    read_score,
    read_score_as_published,
)

DEBATE = "Assistant (a) argues that Output (a) is better. Both matter. Therefore, Output (b) is better."


@pytest.mark.parametrize(
    ("text", "winner", "published"),
    [
        ("Output (a)", "A", "A"),
        (" Output (b).\n", "B", "B"),
        ("Output (a) rambles. Therefore, Output (b) is better.", "B", "B"),
        ("Output (a) is the better one.", "A", "A"),
        (DEBATE, None, "A"),
        ("Output (a) and Output (b) are alike.", None, None),
        ("Neither is better.", None, None),
        ("", None, None),
    ],
)
def test_llmbar_verdicts(text, winner, published):
    assert (read_output(text).winner, read_output_as_published(text).winner) == (winner, published)


@pytest.mark.parametrize(
    ("text", "winner"),
    [("So [[A]]", "A"), ("[[B]] ... [[B]]", "B"), ("[[C]]", "tie"), ("[[A]] or [[B]]?", None), ("[[D]]", None)],
)
def test_mt_bench_verdicts(text, winner):
    assert read_pair(text).winner == winner


@pytest.mark.parametrize(
    ("text", "ours", "published"),
    [
        ('{"reasoning": "x", "score": 0.9}', 0.9, 0.9),
        ('{"score": 1}', 1.0, 1.0),
        ('{"score": "0.5"}', 0.5, 0.5),
        (r'{"reasoning": "$\sqrt{4}$", "score": 0.9}', 0.9, 0.9),  # a backslash that JSON does not know
        ('```json\n{"score": 0.4}\n```', 0.4, 0.4),
        ('{"reasoning": "cut", "score": 0.7', 0.7, 0.7),
        ('{"score": 0.3 + 0.3 = 0.6}', None, 0.3),
        ('{"score": 0.2} {"score": 0.9}', None, 0.2),
        ('{"score": true}', None, None),
        ('{"score": NaN}', None, None),
        ("a score of 0.9", None, None),
        ("", None, None),
    ],
)
def test_scores_in_json(text, ours, published):
    assert (read_score(text).value, read_score_as_published(text).value) == (ours, published)
    assert (read_score(text).value is None) == bool(read_score(text).problem)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (read_rating, "Rating: [[7]]", 7),
        (read_rating, "Rating: [[7.5]]", 7.5),
        (read_rating, "[[7]] then [[8]]", None),
        (read_rating, "Rating: 7", None),
        (read_number, "8", 8),
        (read_number, "nan", None),
        (read_number, "8/10", None),
        (read_number, "", None),
    ],
)
def test_ratings(read, text, value):
    assert read(text).value == value
