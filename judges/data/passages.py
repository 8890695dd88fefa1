"""The records of grounded question answering: a question, the answer that people gave, passages that may hold it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence."""

    id: str
    text: str
    date: str = ""
    """As the file writes it."""
    provider: str = ""
    """Where it was found: in GaRAGe `web` or `ent` (private document sets)."""
    answers: bool | None = None
    """Do annotators say that it answers the question? None where nobody says."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """A question with its passages; what annotators say of it is None or empty where the file does not say."""

    id: str
    question: str
    answer: str
    """As people wrote it, with marks such as `[cite_1]` where the file has them."""
    passages: tuple[Passage, ...]
    date: str = ""
    """When the question was asked."""
    question_valid: bool | None = None
    false_premise: bool | None = None
    seeking: bool | None = None
    """Does it seek information?"""
    answer_validate: bool | None = None
    """Did another annotator confirm the answer?"""
    question_type: str = ""
    """How fast its answer changes, where it does."""
    complexity: str = ""
    category: str = ""
    popularity: str = ""

    @property
    def answering(self) -> tuple[Passage, ...]:
        """The passages that answer the question; all of them, where nobody says of any."""
        said = any(passage.answers is not None for passage in self.passages)
        return tuple(passage for passage in self.passages if passage.answers or not said)
