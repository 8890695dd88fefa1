"""What a judge was asked for a verdict, made again from the data and the templates; the keys of its calls prove it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, cast

import pandas as pd

from analysis import files
from experiments.browser.columns import rows_of
from experiments.pipeline import Stage, usable
from experiments.roster import PipelineSettings, Player, engine_of
from experiments.runs import Run
from experiments.settings import Model, PairwiseSettings
from experiments.stagefiles import StageFiles
from experiments.workshop import Workshop
from judges.ask import Answered, Step
from judges.formats import Thinking
from judges.pointwise import Single
from judges.records import Completion, Factors, Item, Message, ModelSpec, Trial, UserError

Texts = list[tuple[str, str]]
"""Names of texts, and the texts."""
_PLAYED = Completion("", outcome="error", note="not asked, only put together")


@dataclass(frozen=True)
class Asked:
    """What was put to the judge for each row of a run's table."""

    step_of: Callable[[int], tuple[Step[Any, Any], Any]]
    """From a row to what asked it, and what was put through that. LookupError: not known."""
    texts_of: Callable[[Any], tuple[Texts, Texts]]
    """From what was put: what the item says, and what this verdict alone is on."""

    def messages(self, row: int, keys: Sequence[str], so_far: Sequence[Completion]) -> list[tuple[Message, ...]]:
        """The conversation of each call behind a row; empty where what would be asked today has other keys."""
        try:
            step, put = self.step_of(row)
        except LookupError:
            return []
        found = list(step.ask(put, ()))
        while 0 < len(found) < len(keys) and (more := step.ask(put, so_far[: len(found)])):
            found += more
        return [r.messages for r in found] if [r.key for r in found] == list(keys) else []

    def texts(self, row: int) -> tuple[Texts, Texts]:
        """What the item says, and what this verdict is on; nothing where the data set no longer has it."""
        try:
            return self.texts_of(self.step_of(row)[1])
        except LookupError:
            return [], []


def asked(run: Run) -> Asked:
    """Puts a run's trials together again; asks nobody and fetches nothing.

    Raises:
        UserError: that can't be done, and why.
    """
    if not run.manifest.get("settings"):
        raise UserError("these verdicts came without a manifest (they were imported), so what was asked is not known")
    try:
        settings = import_module(f"experiments.{run.study}").Settings.model_validate(run.manifest["settings"])
    except (ValueError, ImportError):
        raise UserError("the settings in the manifest are those of another version of voirdire") from None
    with _offline():
        if isinstance(settings, PairwiseSettings):
            return _pairs(run, settings)
        return _staged(run, settings)


def thinking(run: Run) -> dict[str, Thinking | None]:
    """How each judge of a run marks its thinking, by name."""
    settings = run.manifest.get("settings", {})
    models = [*(settings.get("judges") or ()), *([settings["model"]] if "model" in settings else [])]
    return {str(m["name"]): Thinking(**m["thinking"]) if m.get("thinking") is not None else None for m in models}


def _pairs(run: Run, settings: PairwiseSettings) -> Asked:
    from experiments.panel import panel
    from judges.data import load

    criteria = getattr(settings, "criteria", "objective")
    if criteria == "auto":
        criteria = "instruction" if settings.data.name == "llmbar" else "objective"
    judge = panel(settings, ModelSpec(**run.manifest["model"]), criteria)
    items = {item.id: item for item in load(**settings.data.model_dump(exclude={"label"})).items}
    table = rows_of(run)
    told: dict[str, Any] = {"method": "pairwise", "temperature": 0.0, "repeat": 0, "constrained": settings.constrained}
    columns = {f.name: table[f.name].tolist() for f in fields(Factors) if f.name in table}
    ids = table["item"].tolist()

    def step_of(row: int) -> tuple[Step[Any, Any], Any]:
        factors = told | {name: values[row] for name, values in columns.items()}
        return judge, Trial(items[ids[row]], Factors(**factors))

    return Asked(step_of, lambda trial: (_of_pair(trial.item), []))


def _of_pair(item: Item) -> Texts:
    return [
        ("question", item.question),
        *((f"answer {name}", text) for name, text in zip("AB", item.answers, strict=False)),
        *([("context", item.context)] if item.context else []),
        *((f"reference {name}".strip(), text) for name, text in item.references.items()),
    ]


def _staged(run: Run, settings: PipelineSettings) -> Asked:
    """The last stage of a study, played through before somebody who notes what is put to the judge."""
    module = import_module(f"experiments.{run.study}.stages")
    last = next(stage for stage in module.stages(settings) if stage.final)
    onlooker = _Onlooker(_records(settings), _cast(run, settings))
    tables = {stage.name: _table(run, stage) for stage in module.stages(settings) if stage.name in last.needs}
    last.make(cast(Workshop, onlooker), tables)
    if len(onlooker.puts) != len(run.verdicts):
        raise UserError(
            f"the tables of the stages are on {len(onlooker.puts):,} verdicts, and this one has {len(run.verdicts):,}"
        )
    return Asked(onlooker.puts.__getitem__, _of_put)


def _of_put(put: Any) -> tuple[Texts, Texts]:
    if isinstance(put, Single):
        item = put.trial.item
        accepted = "\n".join(item.answers)
        own = [("answer judged", put.answer), *([("reference shown", put.reference)] if put.reference else [])]
        return [("question", item.question), *([("accepted answers", accepted)] if accepted else [])], own
    passages = "\n\n".join(f"[{p.id}] {p.text}" for p in put.passages)
    return [("question", put.question), ("passages", passages)], [("answer judged", put.answer)]


def _records(settings: PipelineSettings) -> Sequence[Any]:
    if settings.study != "evalpair":
        return ()  # Their table of questions says it all.
    from judges.data.grounded import load_grounded, select

    loaded = load_grounded(settings.data.name, settings.data.path)
    return select(loaded.records, settings.data.limit or len(loaded.records), settings.data.seed)[0]


def _cast(run: Run, settings: Any) -> Mapping[str, tuple[Player, ...]]:
    specs = run.manifest["model"]
    return {
        role: tuple(_player(m, spec, settings) for m, spec in zip(models, specs[role], strict=True))
        for role, models in settings.roles.items()
        if role in specs and len(models) == len(specs[role])
    }


def _player(model: Model, spec: Mapping[str, Any], settings: PipelineSettings) -> Player:
    model = settings.model if model.name == settings.model.name else model
    return Player(model, ModelSpec(**spec), engine_of(model, settings))


def _table(run: Run, stage: Stage) -> pd.DataFrame:
    path = StageFiles(run.folder).find(stage.name)
    if path is None:
        raise UserError(f"the table of stage {stage.name} is not in the run folder")
    return usable(stage, files.load(path, stage.columns))[0]


class _Onlooker:
    """In place of a workshop: notes what is put to models, and hands back results that say nothing."""

    def __init__(self, items: Sequence[Any], roles: Mapping[str, tuple[Player, ...]]) -> None:
        self.items, self._roles = items, roles
        self.puts: list[tuple[Step[Any, Any], Any]] = []

    def ask(self, step: Step[Any, Any], inputs: Iterable[Any]) -> list[Answered[Any]]:
        """Notes the inputs, and reads them as failed calls."""
        new = list(inputs)
        self.puts += [(step, put) for put in new]
        return [Answered(step.read(put, (_PLAYED,)), ("",), (_PLAYED,)) for put in new]

    def players(self, role: str) -> tuple[Player, ...]:
        """As a workshop."""
        return self._roles[role]

    def only(self, role: str) -> Player:
        """As a workshop."""
        return self._roles[role][0]

    def note(self, text: str) -> None:
        """It was said when the run was made."""


@contextmanager
def _offline() -> Iterator[None]:
    """Data sets that are not on this machine are not fetched for a report."""
    import huggingface_hub.constants as hub

    before, hub.HF_HUB_OFFLINE = hub.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        hub.HF_HUB_OFFLINE = before
