"""The stages of evalpair: select, perturb, validate, pool, generate, label, judge."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.evalpair import Settings, tables
from experiments.evalpair.tables import Case
from experiments.evalpair.verdicts import Judged, verdict_table
from experiments.pipeline import Stage, Tables
from experiments.roster import Player
from experiments.workshop import Workshop
from judges import prompts
from judges.grounded.asking import Asker
from judges.grounded.building import Perturb, Validate
from judges.grounded.gates import check, unknown_ids
from judges.grounded.judging import AssignLabel, Generate, JudgeGrounded, Labelling
from judges.grounded.records import MODEL_GATES, Blind, Perturbation
from judges.prompts import Prompt
from judges.records import UserError

STEPS = ("perturb", "validate", "generate", "label", "judge")
HINT = (
    "the column reply of a stage's table, and of the verdicts, quotes what can't be read; constrained=true holds "
    "replies to their JSON schema, again=1 asks once more, with twice the room, for those that the length limit cut off"
)
Make = Callable[[Settings, Workshop, Tables], pd.DataFrame]


def stages(settings: Settings) -> tuple[Stage, ...]:
    """The study's stages, in order."""

    def stage(name: str, says: str, make: Make, needs: tuple[str, ...], columns: tuple[str, ...], role: str) -> Stage:
        return Stage(name, says, partial(make, settings), needs, columns, role, final=name == "judge")

    return (
        stage("select", "a record", _select, (), tables.SELECT, ""),
        stage("perturb", "a passage of a perturbed record", _perturb, ("select",), tables.PERTURB, "perturber"),
        stage("validate", "a gate of a perturbation", _validate, ("perturb", "select"), tables.VALIDATE, "validator"),
        stage("pool", "a record with its perturbation", _pool, ("validate", "perturb", "select"), tables.POOL, ""),
        stage("generate", "an answer", _generate, ("pool", "perturb", "select"), tables.GENERATE, "generator"),
        stage("label", "a label of an answer", _label, ("generate", "pool", "perturb", "select"), tables.LABEL,
              "labeller"),
        stage("judge", "a verdict on an answer", _judge, ("generate", "label", "pool", "perturb", "select"), (),
              "judge"),
    )  # fmt: skip


def templates(settings: Settings) -> dict[str, Prompt]:
    """The prompt of each step."""
    return {name: prompts.load("grounded", name, settings.prompt.path) for name in STEPS}


def _asker(settings: Settings, step: str, by: Player) -> Asker:
    prompt = templates(settings)[step]
    return Asker(by.spec, prompt, by.model.thinking, by.model.max_tokens, settings.constrained, settings.again)


def _select(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    return tables.selected(workshop.items)


def _perturb(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    records = tables.asked(given["select"], workshop.items)
    rows: list[dict[str, Any]] = []
    for by in workshop.players("perturber"):
        answers = workshop.ask(Perturb(_asker(settings, "perturb", by)), records)
        for record, answer in zip(records, answers, strict=True):
            rows += tables.perturbed_rows(settings.data.name, record, by, answer)
        _hint(workshop, [answer.result.outcome for answer in answers])
    return pd.DataFrame(rows, columns=[*tables.PERTURB, "repaired", "reply", "requests"])


def _validate(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    records = {r.id: r for r in tables.asked(given["select"], workshop.items)}
    made = {key: p for key, p in tables.perturbations(given["perturb"]).items() if key[0] in records}
    puts = [(records[item], perturbation) for (item, _), perturbation in made.items()]
    rows: list[dict[str, Any]] = []
    for by in workshop.players("validator"):
        answers = workshop.ask(Validate(_asker(settings, "validate", by)), puts)
        for (item, perturber), answer in zip(made, answers, strict=True):
            rows += tables.gate_rows(item, perturber, by.model.name, answer.result, " ".join(answer.keys))
        said = f"validate: {by.model.name} leaves gates open, which are then not passed"
        _tell(workshop, said, [answer.result[0].outcome for answer in answers])
    for (item, perturber), (record, perturbation) in zip(made, puts, strict=True):
        rows += tables.gate_rows(item, perturber, "", check(record, perturbation), "")
    return pd.DataFrame(rows, columns=[*tables.VALIDATE, "passed", "requests"])


def _pool(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    """One perturbation a record: of those that pass every gate one by lot, else one of the others, as a diagnostic."""
    records = {r.id: r for r in tables.asked(given["select"], workshop.items)}
    made = {key: p for key, p in tables.perturbations(given["perturb"]).items() if key[0] in records}
    failed = {key: _failed(rows) for key, rows in given["validate"].groupby(["item", "perturber"], sort=False)}
    families = given["perturb"].set_index("perturber")["perturber_family"].to_dict()
    rng = np.random.default_rng(settings.data.seed)
    rows = []
    for item, record in records.items():
        found = [key for key in made if key[0] == item and made[key].modified(record.passages)]
        lots = {key: lot for key, lot in zip(found, rng.permutation(len(found)), strict=True)}
        chosen = min(found, key=lambda k: (bool(failed.get(k, "not validated")), lots[k]), default=None)
        if chosen is None:
            continue
        why = failed.get(chosen, "not validated")
        modified = made[chosen].modified(record.passages)
        rows.append({"item": item, "perturber": chosen[1], "perturber_family": families[chosen[1]],
                     "kind": made[chosen].kind, "status": "diagnostic" if why else "validated", "failed": why,
                     "modified": " ".join(modified), "modified_passages": len(modified)})  # fmt: skip
    if not rows:
        raise UserError(
            f"none of the {len(records)} records has a perturbation that changes a passage, so there is nothing to "
            "answer; the tables of stage perturb and of stage validate say what became of each"
        )
    if lacking := len(records) - len(rows):
        workshop.note(f"pool: {lacking} of {len(records)} records have no perturbation that changes a passage")
    return pd.DataFrame(rows, columns=[*tables.POOL, "modified", "modified_passages"])


def _failed(gates: pd.DataFrame) -> str:
    """The gates that a perturbation did not pass, by any of its validators; one without a finding is not passed."""
    passed = gates["passed"].astype(str) == "True"
    missing = set(MODEL_GATES) - set(gates.loc[gates["by"] == "model", "gate"])
    return " ".join(sorted({*gates.loc[~passed, "gate"], *missing}))


def _cases(workshop: Workshop, given: Tables) -> dict[str, Case]:
    records = {r.id: r for r in tables.asked(given["select"], workshop.items)}
    made: Mapping[tuple[str, str], Perturbation] = tables.perturbations(given["perturb"])
    keys = zip(given["pool"]["item"], given["pool"]["perturber"], strict=True)
    return {key[0]: Case(records[key[0]], made[key]) for key in keys if key in made and key[0] in records}


def _generate(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    cases = list(_cases(workshop, given).values())
    puts = [(c.record.question, c.perturbation.applied(c.record.passages)) for c in cases]
    rows = []
    for by in workshop.players("generator"):
        answers = workshop.ask(Generate(_asker(settings, "generate", by)), puts)
        for case, answer in zip(cases, answers, strict=True):
            invented = unknown_ids([p.id for p in case.record.passages], answer.result.cited)
            rows.append(tables.generated_row(case, by, invented, answer))
        _hint(workshop, [answer.result.outcome for answer in answers])
    return pd.DataFrame(rows, columns=[*tables.GENERATE, "refused", "repaired", "reply", "requests"])


def _label(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    cases, by = _cases(workshop, given), workshop.only("labeller")
    answers = [row for row in given["generate"].to_dict("records") if row["item"] in cases]
    puts = [Labelling(cases[r["item"]].record, cases[r["item"]].perturbation, tables.written(r)) for r in answers]
    labels = workshop.ask(AssignLabel(_asker(settings, "label", by)), puts)
    _hint(workshop, [answer.result.outcome for answer in labels])
    rows = [tables.label_row(r["item"], r["generator"], by, a) for r, a in zip(answers, labels, strict=True)]
    others = ("adopts", "states_original", "label_confidence", "reply", "requests")
    return pd.DataFrame(rows, columns=[*tables.LABEL, *others])


def _tell(workshop: Workshop, said: str, outcomes: Sequence[str]) -> None:
    """How many replies give no result, and why."""
    why = ", ".join(f"{n} {outcome}" for outcome, n in Counter(o for o in outcomes if o != "ok").items())
    if why:
        lost = sum(outcome != "ok" for outcome in outcomes)
        workshop.note(f"{said}: {lost} of {len(outcomes)} replies give no result ({why})")
        _hint(workshop, outcomes)


def _hint(workshop: Workshop, outcomes: Iterable[str]) -> None:
    if {"unreadable", "truncated"} & set(outcomes):
        workshop.note(HINT)


def _judge(settings: Settings, workshop: Workshop, given: Tables) -> pd.DataFrame:
    return verdict_table(settings.data.name, list(_judged(settings, workshop, given)), given["pool"], given["label"])


def _judged(settings: Settings, workshop: Workshop, given: Tables) -> Iterator[Judged]:
    cases = _cases(workshop, given)
    answers = [row for row in given["generate"].to_dict("records") if row["item"] in cases]
    shown = [Blind(c.question, tables.written(r), c.passages) for r in answers if (c := cases[r["item"]].record)]
    if not shown:
        raise UserError(
            "no generator gave an answer that can be read, so there is nothing to judge: see stage generate"
        )
    for by in workshop.players("judge"):
        flags = workshop.ask(JudgeGrounded(_asker(settings, "judge", by)), shown)
        _tell(workshop, f"judge {by.model.name}", [a.result.outcome for a in flags])
        for row, flag in zip(answers, flags, strict=True):
            yield Judged(cases[row["item"]], row, by, flag)
