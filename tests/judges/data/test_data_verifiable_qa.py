"""Our own questions: their answers recomputed, their aliases, and what swaps need of them."""

import re
import unicodedata
from collections import Counter, defaultdict
from datetime import date, timedelta

import pytest

from judges.data import load
from judges.records import UserError

ITEMS = load("verifiable_qa").items
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "te": "జనవరి ఫిబ్రవరి మార్చి ఏప్రిల్ మే జూన్ జూలై ఆగస్టు సెప్టెంబర్ అక్టోబర్ నవంబర్ డిసెంబర్",
}
SCRIPTS = {"en": "LATIN", "ar": "ARABIC", "te": "TELUGU"}


def of(kind):
    return [item for item in ITEMS if item.entity_type == kind]


def plain(text):
    """Digits of every script as 0 to 9, by what Unicode says of them."""
    return "".join(str(unicodedata.digit(c)) if unicodedata.category(c) == "Nd" else c for c in text)


def day(text, language):
    months = MONTHS[language].split()
    found = re.search(rf"(\d+) ({'|'.join(months)}) (\d+)", plain(text))
    return date(int(found[3]), months.index(found[2]) + 1, int(found[1])), plain(text).replace(found[0], "")


@pytest.mark.parametrize("item", of("number"), ids=lambda item: item.id)
def test_numbers(item):
    a, b = map(int, re.findall(r"\d+", plain(item.question)))
    times = any(word in item.question for word in ("times", "ضرب", "గుణిస్తే"))
    assert int(plain(item.answers[0])) == (a * b if times else a + b)
    assert len(re.findall(r"\d", " ".join(item.answers))) == 6  # two digits in each of three scripts


@pytest.mark.parametrize("item", of("date"), ids=lambda item: item.id)
def test_dates(item):
    start, rest = day(item.question, item.language)
    (days,) = map(int, re.findall(r"\d+", rest))
    assert day(item.answers[0], item.language)[0] == start + timedelta(days=days)
    assert f"{start + timedelta(days=days)}" in item.answers


@pytest.mark.parametrize("kind", ["month", "weekday"])
def test_what_comes_next_goes_round_once(kind):
    for language in SCRIPTS:
        items = [item for item in of(kind) if item.language == language]
        for item, following in zip(items, items[1:] + items[:1], strict=True):
            assert re.search(rf"(?<!\w){re.escape(item.answers[0])}(?!\w)", following.question), item.id
    if kind == "month":
        assert of("month")[0].answers[0] == "February" and "شباط" in of("month")[0].answers


def test_size_languages_and_ids():
    assert len(ITEMS) == len({item.id for item in ITEMS}) == 423
    assert Counter(item.language for item in ITEMS) == {"en": 153, "ar": 135, "te": 135}
    assert len({item.group for item in ITEMS}) == 153
    assert len({item.question for item in ITEMS}) == 423
    assert ITEMS[1].id == "verifiable_qa-number-00-ar" and ITEMS[1].group == "verifiable_qa-number-00"


@pytest.mark.parametrize("language", SCRIPTS)
def test_eight_types_have_eight_answers_so_that_swaps_keep_the_type(language):
    answers = defaultdict(set)
    for item in ITEMS:
        if item.language == language:
            answers[item.entity_type].add(item.answers[0])
    assert len(answers) == 12
    assert {kind for kind, found in answers.items() if len(found) < 8} == {"weekday"} and len(answers["weekday"]) == 7


def test_no_answer_is_an_alias_of_another_in_its_type():
    for kind in {item.entity_type for item in ITEMS}:
        owners = defaultdict(set)
        for item in of(kind):
            for answer in item.answers:
                owners[answer.casefold()].add(item.group)
        assert all(len(groups) == 1 for groups in owners.values()), kind


@pytest.mark.parametrize("item", [i for i in ITEMS if i.language != "en"], ids=lambda item: item.id)
def test_question_and_first_answer_are_in_the_language(item):
    for text in (item.question, item.answers[0]):
        scripts = {unicodedata.name(c).split()[0] for c in text if not c.isascii() and (c.isalpha() or c.isdigit())}
        assert {s.removesuffix("-INDIC") for s in scripts} == {SCRIPTS[item.language]}, text
    assert "{" not in item.question


def test_persons_have_an_order_of_their_own_and_nothing_else_a_popularity():
    persons = [item for item in of("person") if item.language == "en"]
    assert len(persons) == 28 and len({item.answers[0] for item in persons}) == 28
    assert sorted(item.popularity for item in persons) == list(range(1, 29))
    assert next(item for item in persons if "relativity" in item.question).popularity == 28
    assert all(item.popularity is None for item in ITEMS if item.entity_type != "person")


KNOWN = {
    "What is the capital of Australia?": "Canberra",
    "Which chemical element has the symbol K?": "potassium",
    "Which planet is the fourth from the Sun?": "Mars",
    "In which country is the temple of Angkor Wat?": "Cambodia",
    "Which river flows through the city of Prague?": "Vltava",
    "Which mammal can truly fly?": "bat",
    "In which year did the Berlin Wall fall?": "1989",
    "Who wrote Don Quixote?": "Miguel de Cervantes",
    "Who proved in 1918 that symmetries go with conservation laws?": "Emmy Noether",
    "Which month comes right after December?": "January",
    "ما عاصمة مصر؟": "القاهرة",
    "సూర్యుని నుండి ఆరవ గ్రహం ఏది?": "శని",
    "రాజమండ్రి నగరం గుండా ప్రవహించే నది ఏది?": "గోదావరి",
}


@pytest.mark.parametrize("question", KNOWN)
def test_facts_known_by_heart(question):
    (item,) = [item for item in ITEMS if item.question == question]
    assert item.answers[0] == item.references["gold"] == KNOWN[question]


def test_tables_are_read_in_step():
    """The last row of every table, in each language: a row too few above would have moved it."""
    last = {"city": "Lima", "country": "Tanzania", "river": "Vistula", "element": "calcium", "animal": "octopus"}
    for kind, answer in last.items():
        items = of(kind)[-3:]
        assert [item.language for item in items] == ["en", "ar", "te"] and items[0].answers[0] == answer
        assert len({item.group for item in items}) == 1 and all(answer in item.answers for item in items)


def test_languages_can_be_chosen():
    assert {item.language for item in load("verifiable_qa", languages=["te"], limit=30).items} == {"te"}
    with pytest.raises(UserError, match="it has ar, en, te"):
        load("verifiable_qa", languages=["hi"])


def test_path_and_split_are_refused():
    with pytest.raises(UserError, match="generated"):
        load("verifiable_qa", path="somewhere")
