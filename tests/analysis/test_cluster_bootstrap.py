import numpy as np
import pytest
from scipy import stats

from analysis import bootstrap as module
from analysis.bootstrap import bootstrap


def mean(s):
    with np.errstate(invalid="ignore", divide="ignore"):
        return s[:1] / s[1:2]


def columns(values, counts=None):
    return np.column_stack([values, np.ones(len(values)) if counts is None else counts]).astype(float)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_agrees_with_scipy(interval):
    x = np.random.default_rng(1).exponential(size=60)
    ours = bootstrap(mean, columns(x), rng=np.random.default_rng(2), interval=interval)
    method = {"percentile": "percentile", "bca": "BCa"}[interval]
    theirs = stats.bootstrap((x,), np.mean, n_resamples=10_000, method=method, rng=np.random.default_rng(3))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.value[0] == pytest.approx(x.mean())
    assert ours.low[0] == pytest.approx(theirs.confidence_interval.low, abs=0.04 * width)
    assert ours.high[0] == pytest.approx(theirs.confidence_interval.high, abs=0.04 * width)


def test_bca_moves_with_the_skew():
    x = np.random.default_rng(1).exponential(size=30)
    percentile, bca = (
        bootstrap(mean, columns(x), rng=np.random.default_rng(2), interval=i) for i in ("percentile", "bca")
    )
    assert bca.low[0] > percentile.low[0]
    assert bca.high[0] > percentile.high[0]


def test_covers_the_true_rate_when_items_of_a_group_stand_together():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        rate = rng.beta(6, 4, size=40)
        sums = columns(rng.binomial(5, rate), np.full(40, 5))
        found = bootstrap(mean, sums, rng=rng, replicates=500)
        hits += found.low[0] <= 0.6 <= found.high[0]
    assert 0.91 <= hits / 400 <= 0.98


def test_two_groups_by_hand():
    found = bootstrap(mean, columns([1, 4], [2, 4]), rng=np.random.default_rng(0))
    assert (found.value[0], found.low[0], found.high[0]) == pytest.approx((5 / 6, 1 / 2, 1))


@pytest.mark.parametrize("strata", [None, np.array([0, 0, 0, 1, 1, 1, 1])])
def test_equal_seeds_give_equal_intervals_whatever_is_held_at_once(monkeypatch, strata):
    def ends(seed):
        sums = np.random.default_rng(0).random((7, 3))
        found = bootstrap(lambda s: s, sums, rng=np.random.default_rng(seed), replicates=100, strata=strata)
        return np.concatenate([found.low, found.high, found.error])

    whole = ends(5)
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 50)
    np.testing.assert_allclose(ends(5), whole)
    assert not np.allclose(ends(6), whole)


def test_every_resample_has_as_many_groups_of_every_stratum():
    strata = np.repeat([3, 1], [9, 4])
    each = np.column_stack([strata == 3, strata == 1]).astype(float)
    found = bootstrap(lambda s: s, each, rng=np.random.default_rng(0), replicates=50, strata=strata)
    assert found.low.tolist() == found.value.tolist() == found.high.tolist() == [9, 4]


def test_strata_take_away_the_variance_between_them():
    x, strata = np.repeat([0.0, 1.0], 20), np.repeat([0, 1], 20)
    whole = bootstrap(mean, columns(x), rng=np.random.default_rng(0))
    apart = bootstrap(mean, columns(x), rng=np.random.default_rng(0), strata=strata)
    assert whole.error[0] == pytest.approx(0.5 / np.sqrt(40), rel=0.05)
    assert (apart.low[0], apart.high[0], apart.error[0]) == (0.5, 0.5, 0)
    lonely = bootstrap(mean, columns(x), rng=np.random.default_rng(0), strata=np.arange(40) // 39)
    assert np.isnan(lonely.low[0])


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_metrics_that_cannot_vary(interval):
    same = bootstrap(mean, columns([1, 1, 1]), rng=np.random.default_rng(0), interval=interval)
    assert (same.low[0], same.high[0]) == (1, 1)
    alone = bootstrap(mean, columns([1]), rng=np.random.default_rng(0), interval=interval)
    assert alone.value[0] == 1
    assert np.isnan([alone.low[0], alone.high[0]]).all()
    undefined = bootstrap(mean, columns([0, 0], [0, 0]), rng=np.random.default_rng(0), interval=interval)
    assert np.isnan([undefined.value[0], undefined.low[0], undefined.high[0]]).all()


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_replicates_without_a_defined_value_are_left_out(interval):
    found = bootstrap(mean, columns([1, 0, 0], [1, 1, 0]), rng=np.random.default_rng(0), interval=interval)
    assert found.value[0] == 0.5
    assert 0 <= found.low[0] <= found.high[0] <= 1


def test_no_replicates_no_interval():
    found = bootstrap(mean, columns([0, 1]), rng=np.random.default_rng(0), replicates=0)
    assert found.value[0] == 0.5
    assert np.isnan(found.low[0])
