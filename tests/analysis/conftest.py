import pandas as pd
import pytest

OUTCOME = {"A": ("A", "ok"), "B": ("B", "ok"), "=": ("tie", "tie"), "?": (None, "unreadable")}


def _rows(pairs, **columns):
    """A verdict table written as `{item: (gold, verdicts under AB, verdicts under BA)}`.

    One character a repeat: A, B, = (tie) or ? (unreadable); "" is an order that was not judged.
    """
    rows = [
        {"item": item, "gold": gold, "order": order, "repeat": k, "winner": OUTCOME[v][0], "outcome": OUTCOME[v][1]}
        for item, (gold, *orders) in pairs.items()
        for order, verdicts in zip(("AB", "BA"), orders, strict=True)
        for k, v in enumerate(verdicts)
    ]
    return pd.DataFrame(rows).assign(**{"study": "s", "judge": "j", "dataset": "d", **columns})


@pytest.fixture(scope="session")
def rows():
    return _rows
