"""Who judges: for each method that a study asks by, the step that asks and reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.settings import PairwiseSettings
from judges import prompts
from judges.ask import Step
from judges.engines import RewardSettings
from judges.judge import PairwiseJudge
from judges.records import Completion, ModelSpec, Request, Trial, UserError, Verdict
from judges.reward import RewardJudge
from judges.rubrics import CRITERIA, Flask, GEval


@dataclass(frozen=True)
class Panel:
    """Hands each trial to the step that its factor `method` names."""

    steps: Mapping[str, Step[Trial, Verdict]]
    prompts: Mapping[str, str]
    """sha256 of the templates of every `method/format`, for the manifest."""

    def ask(self, trial: Trial, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """As that step asks."""
        return self.steps[trial.factors.method].ask(trial, so_far)

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """As that step reads."""
        return self.steps[trial.factors.method].read(trial, completions)


def panel(settings: PairwiseSettings, model: ModelSpec, criteria: str = "objective") -> Panel:
    """The steps that the settings ask by.

    Args:
        settings: of the study.
        model: whom they ask.
        criteria: key of `judges.rubrics.CRITERIA`, for the methods that judge by criteria.

    Raises:
        UserError: a reward model is to judge by a method that needs words.
    """
    if isinstance(settings.engine, RewardSettings):
        if wordy := sorted({method for method, _ in settings.asked} - {"reward"}):
            raise UserError(
                f"a reward model scores answers and writes nothing, so it can't judge by {wordy}; leave it out"
            )
        return Panel({"reward": RewardJudge(model)}, {})
    found = {cell: prompts.load(*cell, settings.prompt.path) for cell in settings.asked}
    pairwise = {form: prompt for (method, form), prompt in found.items() if method == "pairwise"}
    thinking, seed = settings.model.thinking, settings.seed
    steps: dict[str, Step[Trial, Verdict]] = {}
    if pairwise:
        steps["pairwise"] = PairwiseJudge(
            model, pairwise, thinking, seed, settings.model.max_tokens, logprobs=settings.logprobs
        )
    for (method, _), prompt in found.items():
        if method in ("flask", "geval"):
            make = Flask if method == "flask" else GEval
            steps[method] = make(model, prompt, CRITERIA[criteria], thinking, seed, settings.model.max_tokens)
    return Panel(steps, {"/".join(cell): prompt.sha256 for cell, prompt in found.items()})
