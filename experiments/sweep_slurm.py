"""Puts the points of a sweep into Slurm's queue, as arrays of tasks that need the same, and waits for them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from omegaconf import OmegaConf
from pydantic import Field, PositiveInt, ValidationError

from experiments import complaints, sweep
from experiments.console import console
from experiments.settings import Model, Strict
from experiments.sweep_queue import Task, await_all
from judges.records import UserError

NEEDS_NO_GPU = {"scripted", "api"}


class Cluster(Strict):
    """`conf/hydra/launcher/slurm.yaml`."""

    folder: Path
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    exclude: str | None = None
    timeout_min: PositiveInt = 1440
    mem_gb: PositiveInt | None = None
    cpus_per_gpu: PositiveInt = 8
    cpus_without_gpu: PositiveInt = 2
    array_parallelism: PositiveInt = 64
    signal_delay_s: PositiveInt = 120
    python: str | None = None
    setup: tuple[str, ...] = ()
    srun_args: tuple[str, ...] = ()
    additional_parameters: Mapping[str, Any] = {}
    poll_s: float = Field(5, gt=0)


@dataclass(frozen=True, order=True)
class Need:
    """What one task asks for."""

    gpus: int
    minutes: int
    memory: int
    """GiB; 0: as the partition has it."""


def need(config: Mapping[str, Any], cluster: Cluster) -> Need:
    """What a point's task asks for: what its judge says, else as its model is spread, else the launcher's own."""
    model = Model.model_validate(config["model"])
    said = model.resources
    spread = 0 if {config["engine"]["kind"], model.engine} & NEEDS_NO_GPU else model.placement().devices
    gpus = (spread if said.gpus is None else said.gpus) * int(config.get("workers", 1))
    minutes = cluster.timeout_min if said.hours is None else max(1, round(said.hours * 60))
    return Need(gpus, minutes, said.memory_gib or cluster.mem_gb or 0)


def run_task(config: dict[str, Any], words: Sequence[str]) -> sweep.Report:
    """What a task does: one point, on the node."""
    from experiments.__main__ import run

    try:
        report = sweep.attempt(config, run, words)
    except KeyboardInterrupt:
        sys.exit(130)  # Without a report: the task is in the queue again, or was cancelled.
    if report.problem:
        print(f"error: {report.problem}", file=sys.stderr)
    return report


class Slurm(Launcher):
    """Hydra's way to run the points of a sweep."""

    def __init__(self, **params: Any) -> None:
        self._params = params

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Takes in what the sweep was called with."""
        self._context, self._config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Submits every point whose settings hold, waits for all, and notes what became of each.

        A dry run is made here, at once.
        """
        from experiments.__main__ import run

        cluster = _cluster(self._params)
        groups: dict[Need, list[tuple[dict[str, Any], list[str]]]] = {}
        for words in map(list, job_overrides):
            config = self._plain(words)
            try:
                one = need(config, cluster)
            except ValidationError as error:
                sweep.REPORTS.append(sweep.Report(sweep.point(config, words), complaints.of_validation(error)))
                continue
            if config["dry_run"]:
                sweep.REPORTS.append(sweep.attempt(config, run, words))  # Asks nothing: needs no node.
            else:
                groups.setdefault(one, []).append((config, words))
        tasks: list[Task] = []
        for one, points in sorted(groups.items(), key=itemgetter(0)):
            try:
                tasks += submit(points, one, cluster)
            except UserError as refused:
                sweep.REPORTS += [sweep.Report(sweep.point(*point), str(refused)) for point in points]
        sweep.REPORTS += await_all(tasks, cluster.poll_s)
        done = JobReturn()
        done.status, done.return_value = JobStatus.COMPLETED, None
        return [done for _ in job_overrides]

    def _plain(self, words: list[str]) -> dict[str, Any]:
        found = self._context.config_loader.load_sweep_config(self._config, words)
        own = OmegaConf.masked_copy(found, [key for key in found if key != "hydra"])
        plain: dict[str, Any] = OmegaConf.to_container(own, resolve=True)  # type: ignore[assignment]
        plain["data"]["label"] = found.hydra.runtime.choices["data"]
        return plain


def submit(points: Sequence[tuple[dict[str, Any], list[str]]], one: Need, cluster: Cluster) -> list[Task]:
    """An array of tasks that need the same.

    Raises:
        UserError: Slurm refuses it.
    """
    import submitit
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor = submitit.SlurmExecutor(cluster.folder / "%j", python=cluster.python)
    executor.update_parameters(**parameters(one, cluster))
    try:
        with executor.batch():
            jobs = [executor.submit(run_task, config, words) for config, words in points]
    except (FailedJobError, FailedSubmissionError, subprocess.CalledProcessError) as error:
        raise UserError(f"Slurm refuses the sweep: {_reason(error)}{_partitions(str(error))}") from None
    array = jobs[0].job_id.partition("_")[0]
    gpus = f"{one.gpus} GPU{'s' * (one.gpus != 1)}" if one.gpus else "no GPU"
    console.print(f"Slurm job {array}: {len(jobs)} tasks, {gpus} and {one.minutes} min each", markup=False)
    return [Task(job, sweep.point(config, words)) for job, (config, words) in zip(jobs, points, strict=True)]


def parameters(one: Need, cluster: Cluster) -> dict[str, Any]:
    """Of the batch script, as submitit names them."""
    given = {name: getattr(cluster, name) for name in ("partition", "account", "qos", "constraint", "exclude")}
    return {
        **{name: value for name, value in given.items() if value is not None},
        **({"gpus_per_node": one.gpus} if one.gpus else {}),
        **({"mem": f"{one.memory}GB"} if one.memory else {}),
        "time": one.minutes,
        "job_name": "voirdire",
        "cpus_per_task": cluster.cpus_per_gpu * one.gpus or cluster.cpus_without_gpu,
        "array_parallelism": cluster.array_parallelism,
        "signal_delay_s": cluster.signal_delay_s,
        "setup": list(cluster.setup) or None,
        "srun_args": list(cluster.srun_args),
        "additional_parameters": {"requeue": True, **cluster.additional_parameters},
    }


def register() -> None:
    """Makes `hydra/launcher=slurm` known to Hydra.

    Raises:
        UserError: there is no Slurm here, or no submitit.
    """
    if shutil.which("sbatch") is None:
        raise UserError(
            "there is no Slurm here (no sbatch): run this on a login node of the cluster, or leave out "
            "hydra/launcher=slurm"
        )
    if not all(map(find_spec, ("submitit", "hydra_plugins"))):
        raise UserError("sweeps on Slurm need hydra-submitit-launcher: pip install 'voirdire[slurm]'")
    # Hydra takes plugins from the package hydra_plugins alone, by name, and looks there for them when it starts.
    home = ModuleType("hydra_plugins.voirdire")
    home.Slurm, Slurm.__module__ = Slurm, home.__name__  # type: ignore[attr-defined]
    sys.modules[home.__name__] = home
    Plugins.instance().register(Slurm)


def _cluster(params: Mapping[str, Any]) -> Cluster:
    plain = {key: OmegaConf.to_container(v) if OmegaConf.is_config(v) else v for key, v in params.items()}
    try:
        return Cluster.model_validate(plain)
    except ValidationError as error:
        raise UserError(f"of hydra.launcher: {complaints.of_validation(error)}") from None


def _reason(error: Exception) -> str:
    said = getattr(error, "stderr", None) or str(error)
    lines = (said.decode() if isinstance(said, bytes) else str(said)).splitlines()
    found = [re.sub(r"^sbatch: error: (Batch job submission failed: )?", "", line.strip()) for line in lines]
    told = [one for line, one in zip(lines, found, strict=True) if line.startswith("sbatch: error: ")]
    return "; ".join(dict.fromkeys(told)) or found[-1]


def _partitions(text: str) -> str:
    if "partition" not in text.lower():
        return ""
    found = subprocess.run(["sinfo", "--noheader", "--format=%R"], capture_output=True, text=True)
    return f"; there are: {', '.join(dict.fromkeys(found.stdout.split()))} (hydra.launcher.partition=NAME)"
