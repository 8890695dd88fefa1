"""Runs one study on one judge and one data set, or sweeps over many (-m).

python -m experiments experiment=trust judge=smollm2 data=verifiable
"""

import os
import sys
from importlib import import_module
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import complaints
from experiments.configuration import conf_folder
from judges.records import UserError

STUDIES = {
    "trust": "experiments.trust",
    "judgebench": "experiments.judgebench",
    "evalpair": "experiments.evalpair",
    "swapref": "experiments.swapref",
    "refsense": "experiments.refsense",
    "confidence": "experiments.confidence",
    "serving": "experiments.serving",
}
"""From the `study:` of an experiment's YAML to its module, which has `Settings` and `run`."""

FAILED: list[str] = []
"""What was wrong with each point of a sweep that could not be run; the other points go on."""


def run(config: dict[str, Any], pids: set[int] | None = None) -> None:
    """Validates a resolved configuration and runs its study; `pids` takes in the processes that store its calls."""
    if config["study"] not in STUDIES:
        raise UserError(f"no study is called {config['study']!r}; {complaints.nearest(config['study'], STUDIES)}")
    study = import_module(STUDIES[config["study"]])
    settings = study.Settings.model_validate(config)
    if settings.workers > 1 and not settings.dry_run:
        from experiments import sweep, workers

        workers.conduct(config, settings, sweep.point(config).folder, set() if pids is None else pids)
        settings = settings.model_copy(update={"workers": 1, "shard": "0/1"})  # All is stored: only read.
    study.run(settings)


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def _task(config: DictConfig) -> None:
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    plain["data"]["label"] = HydraConfig.get().runtime.choices["data"]
    from experiments import sweep

    report = sweep.attempt(plain, run, HydraConfig.get().overrides.task)
    sweep.REPORTS.append(report)
    if report.problem:
        _fail(report.problem)
    elif report.left:
        print(
            f"shard {plain['shard']} is stored; {report.left:,} calls of other shards are not. Whoever finds all of "
            "them stored writes the tables: the last shard, or this command without shard=",
            file=sys.stderr,
        )


def main() -> int:
    """The command. Exit status 0: done; 2: something to mend; 130: interrupted."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra then raises, and we say what was wrong.
    sys.argv[1:] = [_meant(word) for word in sys.argv[1:]]
    FAILED.clear()
    swept = bool({"-m", "--multirun"} & set(sys.argv))
    try:
        _refuse_keys(sys.argv[1:])
        if swept:
            from experiments import sweep

            sweep.REPORTS.clear()
        if "hydra/launcher=slurm" in sys.argv:
            if not swept:
                raise UserError("hydra/launcher=slurm is for sweeps: add -m (a sweep may have one point)")
            from experiments import sweep_slurm

            sweep_slurm.register()
        _task()
        if swept:
            again = (
                ["-m", *(w for w in sys.argv if w.startswith("hydra"))] if "hydra/launcher=slurm" in sys.argv else []
            )
            return 0 if sweep.close(sweep.REPORTS, again) else 2
    except UserError as error:
        _fail(str(error))
    except HydraException as error:
        _fail(complaints.of_hydra(error, conf_folder(), sys.argv[1:]))
    except (OmegaConfBaseException, OSError) as error:
        _fail(str(error).splitlines()[0])
    except KeyboardInterrupt:
        print("\ninterrupted; what was finished is stored: the same command goes on from there", file=sys.stderr)
        return 130
    return 2 if FAILED else 0


def _meant(word: str) -> str:
    """A word as Hydra takes it.

    >>> _meant("model=smollm2"), _meant("+paper=trust_table1,trust_table2")
    ('stage.model=smollm2', 'experiment=paper/trust_table1,paper/trust_table2')
    """
    key, _, value = word.partition("=")
    if key == "model":  # That is where a judge's YAML goes, so it can only mean who plays the stage that is run.
        return f"stage.{word}"
    if key in ("paper", "+paper"):
        return f"experiment={','.join(f'paper/{name}' for name in value.split(','))}"
    return word


def _refuse_keys(words: list[str]) -> None:
    """Looks at settings that a key may have got into, before Hydra notes the words of a sweep in a file.

    Raises:
        UserError: one holds what must not be written down.
    """
    for key, _, value in (word.partition("=") for word in words):
        setting = key.rpartition(".")[2]
        if setting in ("key_env", "base_url"):
            from judges.engines.settings import variable, without_secret

            for one in value.strip("'\"").split(","):
                (variable if setting == "key_env" else without_secret)(one.strip("'\""))


def _fail(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
    FAILED.append(message)


if __name__ == "__main__":
    sys.exit(main())
