import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.data.votes import DIVIDED, NO_VOTE, TIED, settle


@pytest.mark.parametrize(
    ("votes", "gold", "unfit"),
    [
        (["A"], "A", ""),
        (["B", "tie", "B"], "B", ""),
        (["A", "A", "A", "B", "B"], "A", ""),
        (["tie"], None, TIED),
        (["tie", "A", "tie"], None, TIED),
        (["A", "B"], None, DIVIDED),
        (["A", "tie"], None, DIVIDED),
        # More A than anything else, but not more than half.
        (["A", "A", "B", "tie"], None, DIVIDED),
        (["A", "B", "tie"], None, DIVIDED),
        ([], None, NO_VOTE),
    ],
)
def test_more_than_half_decides(votes, gold, unfit):
    assert settle(votes) == (gold, unfit)


@given(st.lists(st.sampled_from(["A", "B", "tie"]), max_size=9))
def test_no_verdict_depends_on_who_voted_first_or_which_answer_is_called_a(votes):
    assert settle(votes) == settle(votes[::-1])
    mirror = {"A": "B", "B": "A", "tie": "tie", None: None}
    assert settle([mirror[vote] for vote in votes]) == (mirror[settle(votes).gold], settle(votes).unfit)
