"""How metrics are written in the source papers, and what they mean: for heads of LaTeX tables and notes on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Symbol(NamedTuple):
    """A metric as a paper writes it."""

    tex: str
    """In LaTeX, for text mode."""
    says: str
    """What it is, in words; empty where its name says it."""


SYMBOLS: Mapping[str, Symbol] = {
    "C": Symbol("$C$", "share of places (pair, order) whose readable repeats all give the same verdict"),
    "phi": Symbol(r"$\phi$", "share of pairs whose majority verdict changes when the answers change places"),
    "A": Symbol("$A$", "share of places whose majority verdict is the right one, both orders weighted equally"),
    "A-phi/2": Symbol(r"$A - \phi/2$", "accuracy less half of the order flips"),
    "T": Symbol("$T$", "trustworthy verdict rate C (A − phi/2): reproducible, invariant to the order, and right"),
    "T_joint": Symbol(r"$T_{\mathrm{joint}}$", "share of places that are reproducible, invariant and right at once"),
    "T_joint_pair": Symbol(r"$T_{\mathrm{joint}}^{\mathrm{pair}}$", "the same, counted over pairs: in both orders"),
    "bound": Symbol(r"$1 - \phi/2$", "the highest accuracy that this much order-flipping allows"),
    "gap": Symbol(r"$T - T_{\mathrm{joint}}$", "what the product form T adds to the joint share"),
    "delta_T_fmt": Symbol(r"$\Delta T_{\mathrm{fmt}}$", "largest less smallest T over the output formats"),
    "T - direct": Symbol(r"$T - T_{\mathrm{direct}}$", "T less that of a direct verdict"),
    "accuracy": Symbol("accuracy", "share of pairs for which the two orders together name the right answer"),
    "accuracy_AB": Symbol(r"$\mathrm{accuracy}_{AB}$", "accuracy in one order alone: biased by the position"),
    "accuracy_BA": Symbol(r"$\mathrm{accuracy}_{BA}$", "accuracy in the other order alone"),
    "inconsistent": Symbol("inconsistent", "share of pairs whose two verdicts differ"),
    "ties": Symbol("ties", "share of verdicts that are ties"),
    "first_position": Symbol("first position", "share of verdicts for the answer shown first"),
    "ACC_o": Symbol(r"$\mathrm{ACC}_{o}$", "accuracy under the original reference"),
    "ACC_s": Symbol(r"$\mathrm{ACC}_{s}$", "accuracy under the swapped reference"),
    "RPAG": Symbol("RPAG", "ACC_o − ACC_s: how much accuracy is lost when the reference contradicts what is known"),
    "C1": Symbol("$C_1$", "share of right answers that are accepted without a reference"),
    "C2": Symbol("$C_2$", "share of other questions' answers that are accepted"),
    "CGP": Symbol("CGP", "C1 − C2: how well the judge tells right from wrong by itself"),
    "flip_rate": Symbol("flip rate", "share of answers whose verdict differs between two settings"),
    "over_credit": Symbol(r"$C \to I$", "share of flips from CORRECT to INCORRECT: credited too much before"),
    "under_credit": Symbol(r"$I \to C$", "share of flips from INCORRECT to CORRECT"),
    "NR": Symbol("NR", "share judged CORRECT without a reference"),
    "RV": Symbol("RV", "share judged CORRECT with the reference in sight"),
    "RVP": Symbol("RVP", "as RV, the answer before the reference"),
    "RC": Symbol("RC", "share judged CORRECT when told to compare with the reference"),
    "RCP": Symbol("RCP", "as RC, the answer before the reference"),
    "kappa": Symbol(r"$\kappa$", "Cohen's kappa with the person's labels"),
    "precision": Symbol("$P$", "share of flags that are right"),
    "recall": Symbol("$R$", "share of answers that adopt the false claim which are flagged"),
    "f1": Symbol("$F_1$", "harmonic mean of precision and recall"),
    "false_positive_rate": Symbol("FPR", "share of answers that avoid the false claim which are flagged"),
    "recall_delta": Symbol(r"$\Delta_{\mathrm{recall}}$", "own judge less the others, on answers that adopt the claim"),
    "avoided_delta": Symbol(r"$\Delta_{\mathrm{avoided}}$", "the same on answers that avoid the claim"),
    "all_delta": Symbol(r"$\Delta_{\mathrm{all}}$", "the same on all answers"),
    "auroc": Symbol("AUROC", "chance that a right verdict has more confidence than a wrong one"),
    "aurc": Symbol("AURC", "mean share of wrong verdicts as less and less certain ones are taken in"),
    "brier": Symbol("Brier", "mean squared distance between confidence and being right"),
    "ece": Symbol("ECE", "mean distance between confidence and share right, over bins of equal width"),
    "label_mass": Symbol("label mass", "probability that the labels together captured"),
    "verdict_difference": Symbol("verdicts", "share of requests whose verdict is not the one given alone"),
    "text_difference": Symbol("texts", "share of requests whose text is not the one written alone"),
    "token_difference": Symbol("tokens", "share of tokens that differ"),
    "n": Symbol("$n$", "how many units the number beside it is a mean of"),
    "unreadable": Symbol("unreadable", "share of replies that hold no verdict"),
    "eta2": Symbol(r"$\eta^2$", "share of the sum of squares"),
}


def glossary(columns: Iterable[str]) -> dict[str, str]:
    """What the metrics among some columns mean, in their order.

    >>> list(glossary(["judge", "C", "swap RPAG"]))
    ['C', 'RPAG']
    """
    names = (name for column in columns for name in (column, column.split(" ")[-1]))
    return {name: SYMBOLS[name].says for name in names if name in SYMBOLS}
