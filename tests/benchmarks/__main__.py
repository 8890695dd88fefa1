"""Runs every benchmark in a process of its own and prints each figure beside its target.

python tests/benchmarks            all
python tests/benchmarks store      those whose name holds a word
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    wanted = sys.argv[1:]
    failed = []
    for script in sorted(HERE.glob("bench_*.py")):
        if wanted and not any(word in script.stem for word in wanted):
            continue
        print(f"\n== {script.stem.removeprefix('bench_')}", flush=True)
        if subprocess.run([sys.executable, script], cwd=HERE.parents[1]).returncode:
            failed.append(script.stem)
    if failed:
        print(f"\nended with an error: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
