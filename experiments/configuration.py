"""Where the YAML files are, and reading one of them by its name; what a whole command stands for is Hydra's to say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.complaints import choices, nearest


def conf_folder() -> Path:
    """The YAML files: beside this module where they are installed, in the checkout where they are not."""
    installed = Path(__file__).parent / "conf"
    return installed if installed.is_dir() else Path(__file__).parents[1] / "conf"


def judge(name: str) -> dict[str, Any]:
    """A judge's YAML on top of what every model's settings begin with.

    `scripted:NAME` is the judge `scripted` with that script.

    Raises:
        ValueError: no judge has this name; says the nearest right one.
    """
    stem, _, script = name.partition(":")
    if stem not in (known := choices(conf_folder(), "judge")) or (script and stem != "scripted"):
        raise ValueError(f"no judge is called {name!r}; {nearest(name, known)}")
    own = {"script": script, "name": name} if script else {}
    return {**_read("config")["model"], **_read(f"judge/{stem}"), **own}


def engine(kind: str) -> dict[str, Any]:
    """The settings of an engine where nobody says otherwise."""
    return dict(_read(f"engine/{kind}"))


def _read(name: str) -> Mapping[str, Any]:
    node = OmegaConf.load(conf_folder() / f"{name}.yaml")
    found: Mapping[str, Any] = OmegaConf.to_container(node)  # type: ignore[assignment]
    return found
