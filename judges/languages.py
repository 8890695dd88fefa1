"""What a prompt calls a language."""

NAMES = {
    "ar": "Arabic",
    "bn": "Bengali",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hi": "Hindi",
    "id": "Indonesian",
    "ja": "Japanese",
    "ko": "Korean",
    "ru": "Russian",
    "sw": "Swahili",
    "te": "Telugu",
    "th": "Thai",
    "zh": "Chinese",
}
UNNAMED = "as written below"


def named(tag: str) -> str:
    """The English name of a language, from its BCP 47 tag; the tag itself where we have no name for it.

    >>> named("te"), named("te-IN"), named("qu"), named("")
    ('Telugu', 'Telugu', 'qu', 'as written below')
    """
    return NAMES.get(tag.partition("-")[0].lower(), tag) or UNNAMED
