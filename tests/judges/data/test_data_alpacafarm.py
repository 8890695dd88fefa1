import json
from collections import Counter

import pytest

from judges.data import alpacafarm, load
from judges.data.votes import TIED
from judges.records import UserError


def record(preference=1, **changed):
    return {
        "instruction": "Name a colour.",
        "input": "",
        "output_1": "Red.",
        "output_2": "Seven.",
        "preference": preference,
        "raw_preference": preference,
        **changed,
    }


def save(folder, *records):
    (folder / alpacafarm.NAME).write_text(json.dumps(records))
    return folder


def test_fields_gold_and_input(tmp_path):
    save(tmp_path, record(1), record(2, input="A warm one.", output_1="Blue."))
    first, second = load("alpacafarm", tmp_path).items
    assert (first.id, first.dataset, first.gold, first.answers) == (
        "alpacafarm-00000",
        "alpacafarm",
        "A",
        ("Red.", "Seven."),
    )
    assert (second.id, second.gold, second.question) == ("alpacafarm-00001", "B", "Name a colour.\n\nA warm one.")


def test_a_draw_has_as_many_of_each_gold(tmp_path):
    rows = [record(1 + (i % 10 > 6), input=str(i)) for i in range(400)]
    sample = load("alpacafarm", save(tmp_path, *rows), limit=100, sample="random").items
    assert Counter(item.gold for item in sample) == {"A": 50, "B": 50}


def test_pairs_without_a_preference_keep_their_place_in_the_count(tmp_path):
    loaded = load("alpacafarm", save(tmp_path, record(0), record(2)))
    assert [item.id for item in loaded.items] == ["alpacafarm-00001"]
    assert loaded.provenance["dropped"] == {TIED: ["alpacafarm-00000"]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"preference": 3}, r"json\[1\]: the preference '3' names no answer; it must be '0' or '1' or '2'"),
        ({"preference": None}, "the preference 'None' names no answer"),
        ({"preference": 1.5}, r"the preference '1\.5' names no answer"),
        ({"output_1": None}, r"json\[1\]: the field 'output_1' must be a string, not null"),
        ({"instruction": ["a"]}, "the field 'instruction' must be a string, not a list"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, changed, said):
    with pytest.raises(UserError, match=said):
        load("alpacafarm", save(tmp_path, record(), record(**changed)))


def test_other_files_of_alpacafarm_and_splits(tmp_path):
    (tmp_path / "alpaca_farm_evaluation.json").write_text(
        json.dumps([{"instruction": "x", "input": "", "output": "y"}])
    )
    with pytest.raises(UserError, match=r"holds no alpaca_human_preference\.json, plain or \.gz"):
        load("alpacafarm", tmp_path)
    with pytest.raises(UserError, match=r"\[0\]: the field 'preference' is missing; found 'instruction'"):
        load("alpacafarm", tmp_path / "alpaca_farm_evaluation.json")
    with pytest.raises(UserError, match="alpacafarm has no splits"):
        load("alpacafarm", tmp_path, split="preference")


def test_without_a_path_the_pinned_revision_is_downloaded(hub, load_from_hub):
    content = json.dumps([record(1), record(2, input="x")]).encode()
    served = hub({alpacafarm.NAME: content}, commit=alpacafarm.REVISION)
    ids, (file,) = load_from_hub("alpacafarm", served.endpoint)
    assert ids == ["alpacafarm-00000", "alpacafarm-00001"]
    assert file["origin"] == f"hub:tatsu-lab/alpaca_farm@{alpacafarm.REVISION}"
    assert f"/datasets/tatsu-lab/alpaca_farm/resolve/{alpacafarm.REVISION}/{alpacafarm.NAME}" in served.asked
