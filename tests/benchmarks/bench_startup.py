"""How long a person waits for help, for a mistake to be named, and before an engine begins to load."""

import subprocess
import sys
import tempfile
import time


def seconds(*arguments: str) -> float:
    """Wall time of the command, best of three."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "experiments", *arguments], capture_output=True)
        best = min(best, time.perf_counter() - began)
    return best


BEFORE_LOADING = """
import sys, time
began = time.perf_counter()
import experiments.audit, experiments.__main__ as main
def stop(*_):
    print(time.perf_counter() - began)
    sys.exit()
experiments.audit.open_engine = stop
sys.argv = ["experiments", "root=" + sys.argv[1]]
main.main()
"""


def main() -> None:
    print(f"python -m experiments --help: {seconds('--help'):.2f} s (target <= 1.5 s)")
    print(f"a mistake in the configuration: {seconds('repeats=x'):.2f} s (target <= 1.5 s)")
    with tempfile.TemporaryDirectory() as root:
        done = subprocess.run([sys.executable, "-c", BEFORE_LOADING, root], capture_output=True, text=True, check=True)
    print(f"start-up before the engine begins to load: {float(done.stdout):.2f} s (target <= 3 s)")


if __name__ == "__main__":
    main()
