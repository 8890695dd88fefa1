"""PopQA: questions about entities of Wikidata by templates of 16 relations, with the page views of their subjects.

Upstream: github.com/AlexTMallen/adaptive-retrieval (`data/popQA.tsv`, MIT) and the hub data set akariasai/PopQA
(`test.tsv`), 14,267 questions (Mallen et al. 2023, arXiv 2212.10511).
"""

import re
from pathlib import Path

from judges.data.answered import answered, identified
from judges.data.fields import Record, count, listed, text
from judges.data.files import locate, read_records
from judges.data.hub import fetch
from judges.data.intake import Raw, Row
from judges.records import Item, UserError

REPO = "akariasai/PopQA"
HUB_FILE = "test.tsv"

MIRROR = "popqa_dev1000_test1000.jsonl"
SPLITS = {
    "all": ("popQA.tsv", "data/popQA.tsv", HUB_FILE, MIRROR, "popqa*.jsonl"),
    "dev": (MIRROR,),
    "test": (MIRROR,),
    "head": ("popqa_1000.jsonl",),
}

TEMPLATES = {
    "occupation": r"What is .+'s occupation\?",
    "place of birth": r"In what city was .+ born\?",
    "genre": r"What genre is .+\?",
    "father": r"Who is the father of .+\?",
    "country": r"In what country is .+\?",
    "producer": r"Who was the producer of .+\?",
    "director": r"Who was the director of .+\?",
    "capital of": r"What is .+ the capital of\?",
    "screenwriter": r"Who was the screenwriter for .+\?",
    "composer": r"Who was the composer of .+\?",
    "color": r"What color is .+\?",
    "religion": r"What is the religion of .+\?",
    "sport": r"What sport does .+ play\?",
    "author": r"Who is the author of .+\?",
    "mother": r"Who is the mother of .+\?",
    "capital": r"What is the capital of .+\?",
}
"""The question that upstream asks for each relation."""


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the questions from a folder or file, or from the hub if `path` is None.

    An item's source is its relation: the field `prop`, or where a mirror dropped that, what the question's template
    tells. Its popularity is `s_pop`, the monthly page views of what is asked about.

    Args:
        path: a folder of the upstream `popQA.tsv`, of the hub's `test.tsv` or of a mirror's `popqa*.jsonl`, plain or
            .gz, or one such file.
        split: `all` (default), upstream's whole file, or the first mirror there; `dev` or `test`, 1,000 questions
            each of all relations (a mirror's parts); `head`, upstream's first 1,000, of two relations and with ids of
            their own.

    Raises:
        UserError: an unknown split, or the file is missing, ill-formed or without that part.
    """
    split = split or "all"
    if split not in SPLITS:
        raise UserError(f"data.split={split} is unknown; popqa has {', '.join(SPLITS)}.")
    if path is None and split != "all":
        raise UserError(f"data.split={split} is a mirror's; leave data.split null, or give its folder as data.path.")
    file, origin = next(fetch(REPO, [HUB_FILE])) if path is None else (locate(path, *SPLITS[split]), "")
    source, records = read_records(file, origin)
    whole = split not in ("dev", "test")
    rows = [_row(record, place) for place, record in records if whole or text(record, "split", place) == split]
    return Raw(identified(rows), (source,))


def _row(record: Record, place: str) -> Row:
    question = text(record, "question", place)
    item = Item(
        id=str(record.get("id", "")),
        dataset="popqa",
        question=question,
        answers=listed(record, "possible_answers", place),
        gold=None,
        source=text(record, "prop", place) if "prop" in record else relation(question),
        language="en",
        popularity=count(record, "s_pop", place),
    )
    return answered(item, place)


def relation(question: str) -> str:
    """The relation that a question's template asks for; empty for other questions.

    >>> relation("What is Paris the capital of?"), relation("What is the capital of Utah?"), relation("Why?")
    ('capital of', 'capital', '')
    """
    return next((name for name, template in TEMPLATES.items() if re.fullmatch(template, question, re.DOTALL)), "")
