"""One matrix of judges and generators on one data set: from grounded records to the files of a run folder."""

from experiments.console import console
from experiments.evalpair import Settings
from experiments.evalpair.stages import stages, templates
from experiments.staged import conduct
from judges.data.grounded import digest, load_grounded, select


def study(settings: Settings) -> None:
    """Loads and selects the records, and runs the stages on them."""
    data = settings.data
    loaded = load_grounded(data.name, data.path)
    for warning in loaded.warnings:
        console.print(f"note: {warning}", markup=False)
    chosen, funnel = select(loaded.records, data.limit or len(loaded.records), data.seed)
    selected = {"items": len(chosen), "items_sha256": digest(chosen), "funnel": funnel}
    conduct(
        stages(settings),
        settings,
        settings.roles,
        chosen,
        provenance={**loaded.provenance, **selected},
        prompts={f"grounded/{name}": prompt.sha256 for name, prompt in templates(settings).items()},
        unreadable=settings.unreadable,
        folder=settings.root / settings.study / data.label / settings.panel,
        title=f"{', '.join(m.name for m in settings.roles['judge'])} on {data.label}",
    )
