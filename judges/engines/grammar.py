"""Structured output for an engine that draws its own tokens, through xgrammar."""

import json
from typing import Any

import orjson

from judges.records import Constraint


class Grammars:
    """Compiles constraints against one vocabulary."""

    def __init__(self, tokenizer: Any, vocabulary: int, stop_tokens: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._stop_tokens = sorted(stop_tokens)
        self._compiler: Any = None

    def matcher(self, constraint: Constraint) -> "Matcher":
        """A matcher at the start of what the constraint allows.

        Raises:
            ValueError: the constraint is malformed, or xgrammar is not installed.
        """
        compiled = self._compile(constraint)
        return Matcher(compiled, self._vocabulary)

    def _compile(self, constraint: Constraint) -> Any:
        try:
            import xgrammar
        except ImportError:
            raise ValueError("structured output needs the package xgrammar; run: pip install xgrammar") from None
        if self._compiler is None:
            info = xgrammar.TokenizerInfo.from_huggingface(
                self._tokenizer, vocab_size=self._vocabulary, stop_token_ids=self._stop_tokens
            )
            self._compiler = xgrammar.GrammarCompiler(info)
        try:
            match constraint.kind:
                case "choice":
                    return self._compiler.compile_grammar(choice_grammar(orjson.loads(constraint.value)))
                case "json":
                    return self._compiler.compile_json_schema(constraint.value)
                case "regex":
                    return self._compiler.compile_regex(constraint.value)
        except RuntimeError as error:  # What xgrammar raises on any bad grammar.
            raise ValueError(str(error)) from error


class Matcher:
    """How far one text has come through its grammar."""

    def __init__(self, compiled: Any, vocabulary: int) -> None:
        import xgrammar

        self._matcher = xgrammar.GrammarMatcher(compiled)
        self._allowed = xgrammar.allocate_token_bitmask(1, vocabulary)

    def mask(self, logits: Any) -> None:
        """Sets the logits (vocabulary,) of tokens that are not allowed next to -inf, in place."""
        import xgrammar

        self._matcher.fill_next_token_bitmask(self._allowed)
        xgrammar.apply_token_bitmask_inplace(logits.unsqueeze(0), self._allowed.to(logits.device))

    def accept(self, token: int) -> bool:
        """Moves on by one token; false when nothing can follow."""
        return bool(self._matcher.accept_token(token)) and not self._matcher.is_terminated()


def choice_grammar(choices: list[str]) -> str:
    r"""A grammar of exactly these texts.

    >>> choice_grammar(["A", 'say "B"'])
    'root ::= "A" | "say \\"B\\""'
    """
    return "root ::= " + " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
