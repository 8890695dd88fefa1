import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.finetuned import FINETUNED
from judges.formats import FORMATS
from judges.prompts import fill, load, pair_messages
from judges.records import UserError

HOSTILE = ["{answer_a}", "{{ x }}", "{instruction}", "[[A]]", "</think>", "\\1 \\g<0>", "%s", "", "a\0b", "{", "}{"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_steers_a_template(name, text):
    prompt = load("pairwise", name)
    shown = pair_messages(prompt, text, "first", "second")[-1].content
    plain = pair_messages(prompt, "QUESTION", "first", "second")[-1].content
    assert shown == plain.replace("QUESTION", text)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text(), min_size=3))
def test_fill_is_one_pass(fields):
    assert fill("{a}|{b}|{c}{a}", fields) == f"{fields['a']}|{fields['b']}|{fields['c']}{fields['a']}"


def test_lone_surrogates_are_replaced():
    shown = pair_messages(load("pairwise", "direct"), "x\ud800y", "a", "b")[-1].content
    assert "x\ufffdy" in shown
    shown.encode("utf-8")


@pytest.mark.parametrize("template", ["{a} {b}", "{a} {c}", ""])
def test_unknown_and_unfilled_fields_are_refused(template):
    with pytest.raises(UserError, match="unknown"):
        fill(template, {"a": "1"})


@pytest.mark.parametrize("name", FORMATS.keys() - FINETUNED.keys())
def test_the_instruction_comes_last_and_the_rest_is_shared(name):
    prompt = load("pairwise", name)
    system, user = pair_messages(prompt, "Q", "X", "Y")
    assert user.content.endswith(prompt.instruction)
    assert system.content == load("pairwise", "direct").system
    before = user.content.removesuffix(prompt.instruction)
    assert before == pair_messages(load("pairwise", "direct"), "Q", "X", "Y")[1].content.removesuffix(
        load("pairwise", "direct").instruction
    )


def test_own_templates_stand_in_for_ours(tmp_path):
    (tmp_path / "user.txt").write_text("{question}|{answer_a}|{answer_b}|{instruction}")
    (tmp_path / "direct.txt").write_text("Letter?")
    messages = pair_messages(load("pairwise", "direct", tmp_path), "Q", "X", "Y")
    assert messages[-1].content == "Q|X|Y|Letter?"
    assert load("pairwise", "direct", tmp_path).sha256 != load("pairwise", "direct").sha256


def test_a_format_may_have_its_own_user_template_without_an_instruction(tmp_path):
    (tmp_path / "vanilla.user.txt").write_text("{question} {answer_a} {answer_b}: A or B?")
    assert pair_messages(load("pairwise", "vanilla", tmp_path), "Q", "X", "Y")[-1].content == "Q X Y: A or B?"


def test_a_folder_without_templates_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"no \*\.txt templates"):
        load("pairwise", "direct", tmp_path)
