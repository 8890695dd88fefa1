"""Verdicts drawn from a known model: do intervals cover the truth, and what does a harder generator do to a contrast?

    python -m analysis.simulate --out FILE [--records 1000] [--lenient 0.05] [--seed 0]

draws the figure FILE.svg and FILE.png: one model's answers become harder to judge, its leniency stays what it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.bootstrap import Array
from analysis.cells import OVERALL
from analysis.columns import TableError
from analysis.confusion import RAW
from analysis.evalpair import EFFECTS, evalpair
from analysis.grounded import ERROR, NO_ERROR
from analysis.matched import Panel, contrast, deltas
from analysis.ratios import POOLED, estimates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAUGHT, FALSE = 0.75, 0.1
"""How often an answer is flagged that adopted the claim, and one that avoided it, where nothing makes it harder."""
RECORD, ANSWER = 0.1, 0.1
"""How far, up or down, a record and an answer move that: what all judges of an answer share."""
DIFFICULTIES = (0.0, 0.1, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class World:
    """Who judges whom, and what is true of them."""

    records: int = 300
    models: tuple[str, ...] = ("x", "y", "z")
    """Each of them writes and judges."""
    lenient: float = 0.0
    """By how much rarer a judge flags its own answers that adopted the claim: minus the true effect on recall."""
    harder: Mapping[str, float] = field(default_factory=dict)
    """By how much rarer every judge flags this generator's answers that adopted the claim."""
    adopted: float = 0.6
    """Share of answers that adopt the induced claim."""


def draw(world: World, rng: np.random.Generator) -> Panel:
    """One panel of a world: every judge on every answer, nothing unreadable; its terms are said and known.

    Raises:
        TableError: some chance of a flag would not lie between 0 and 1.
    """
    models, shape = list(world.models), (world.records, len(world.models))
    adopts = rng.random(shape) < world.adopted
    shared = rng.uniform(-RECORD, RECORD, (world.records, 1)) + rng.uniform(-ANSWER, ANSWER, shape)
    caught = CAUGHT + shared - np.array([world.harder.get(m, 0.0) for m in models])
    own = caught[..., None] - world.lenient * np.eye(len(models))
    chance = np.where(adopts[..., None], own, FALSE * (1 + shared)[..., None])
    if not world.records or chance.min() < 0 or chance.max() > 1:
        raise TableError("no such world: give it records, and so little leniency that all chances lie between 0 and 1")
    said: Array = (rng.random(chance.shape) < chance).astype(float).reshape(-1, len(models))
    record = np.repeat([f"r{i}" for i in range(world.records)], len(models))
    answers = pd.DataFrame({"item": record, "group": record, "generator": models * world.records, "candidate": ""})
    gold = np.where(adopts.ravel(), ERROR, NO_ERROR)
    answers = answers.assign(swap="", generator_family=answers["generator"], gold=gold)
    setting = {"study": "evalpair", "dataset": "simulated"}
    judges = pd.DataFrame({"judge": models, "judge_family": models})
    return Panel(setting, answers, judges, {"said": said, "known": np.ones_like(said)})


def verdicts(panel: Panel) -> pd.DataFrame:
    """The panel as a verdict table."""
    rows = panel.answers.loc[np.repeat(panel.answers.index, len(panel.judges))].reset_index(drop=True)
    judges = np.tile(panel.judges["judge"], len(panel.answers))
    grade = np.where(panel.terms["said"].ravel() > 0, ERROR, NO_ERROR)
    told = rows.assign(judge=judges, judge_family=judges, grade=grade, **panel.setting)
    return told.assign(method="grounded", order="AB", winner=None, outcome="ok")


def coverage(world: World, simulations: int, rng: np.random.Generator, replicates: int = 1000) -> float:
    """Share of simulations whose 95 % interval of the paired effect on recall holds the true one, `-lenient`."""
    held = 0
    for _ in range(simulations):
        panel = draw(world, rng)
        adopted = (panel.answers["gold"] == ERROR).to_numpy()
        effect = [*deltas(panel, contrast(panel), {(OVERALL, EFFECTS[0]): adopted})][:1]
        found = estimates(effect, panel.groups, panel.weights(replicates, int(rng.integers(2**63)))).iloc[0]
        held += found["ci_low"] <= -world.lenient <= found["ci_high"]
    return held / simulations


def confounded(
    world: World, difficulties: Sequence[float], rng: np.random.Generator, replicates: int = 1000
) -> pd.DataFrame:
    """Both contrasts of the last model's recall on its own answers, as these become harder for everybody.

    Returns:
        One row a difficulty and contrast: harder, metric (`raw_recall_delta`, `recall_delta`), value ci_low ci_high.
    """
    model, found = world.models[-1], []
    for harder in difficulties:
        table = verdicts(draw(replace(world, harder={model: harder}), rng))
        metrics = evalpair(table, rng=rng, replicates=replicates)
        own = metrics[(metrics["slice"] == OVERALL) & metrics["metric"].isin([next(iter(RAW)), EFFECTS[0]])]
        own = own[own[["judge", "generator"]].isin([model, POOLED]).all(axis=1)]
        own = own[(own["judge"] == model) | (own["generator"] == model)]
        found.append(own.assign(harder=harder)[["harder", "metric", "value", "ci_low", "ci_high"]])
    return pd.concat(found, ignore_index=True)


def confounding(found: pd.DataFrame, lenient: float) -> Figure:
    """Raw and paired contrasts against how much harder the model's answers are; a line at what is true."""
    from analysis.drawing import GREY, canvas, legend, looks

    names = {next(iter(RAW)): "raw diagonal", EFFECTS[0]: "paired on the answer"}
    with canvas(5.2, 3.8) as (figure, (axes,)):
        axes.axhline(-lenient, color=GREY, lw=1, ls="--", label="true effect")
        for i, (metric, look) in enumerate(looks(names).items()):
            own = found[found["metric"] == metric]
            x = own["harder"] + 0.006 * (2 * i - 1)
            axes.vlines(x, own["ci_low"], own["ci_high"], color=look.colour, lw=1.2)
            axes.plot(x, own["value"], color=look.colour, marker=look.mark, ls="", label=names[metric])
        axes.set(xlabel="by how much rarer anybody flags this model's answers", ylabel="recall: own judge − others")
        legend(figure, axes)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    from analysis import drawing

    parser = argparse.ArgumentParser(prog="python -m analysis.simulate", description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the figure, without its suffix")
    parser.add_argument("--records", type=int, default=1000, help="records of each matrix (default 1000)")
    parser.add_argument("--lenient", type=float, default=0.05, help="true leniency towards the own answers")
    parser.add_argument("--seed", type=int, default=0, help="of the simulation (default 0)")
    options = parser.parse_args(arguments)
    out = options.out.with_suffix("") if options.out.suffix in (".svg", ".png") else options.out
    try:
        world = World(records=options.records, lenient=options.lenient)
        found = confounded(world, DIFFICULTIES, np.random.default_rng(options.seed))
        drawing.save(confounding(found, options.lenient), out)
    except (TableError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    print(found.round(3).to_string(index=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
