from itertools import pairwise, product
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.image import imread

from analysis import figures
from analysis.drawing import looks, name, save
from analysis.reliability import trust

ALL = (figures.bound, figures.plane, figures.trust_by_judge, figures.trust_by_temperature)


def metrics(rows, judges=("j",), temperatures=(0.0, 1.0), pairs=None):
    pairs = pairs or {"p": ("A", "AAA", "AAA"), "q": ("B", "AAB", "BBB")}
    made = product(judges, ("d", "e"), ("direct", "vf_json"), temperatures)
    table = pd.concat([rows(pairs, judge=j, dataset=d, format=f, temperature=t) for j, d, f, t in made])
    return trust(table, rng=np.random.default_rng(0), replicates=0)


def texts(figure, tmp_path):
    svg, _ = save(figure, tmp_path / "figure")
    return [t.text for t in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("draw", ALL)
def test_every_figure_becomes_an_svg_with_text_and_a_png(rows, draw, tmp_path):
    figure = draw(metrics(rows))
    shown = texts(figure, tmp_path)
    assert "d" in shown
    assert "e" in shown
    width, height = figure.get_size_inches()
    assert imread(tmp_path / "figure.png").shape[:2] == pytest.approx((height * 160, width * 160), abs=1)


@pytest.mark.parametrize("draw", ALL)
def test_equal_metrics_give_equal_files(rows, draw, tmp_path):
    first, second = (save(draw(metrics(rows)), tmp_path / n) for n in ("one", "two"))
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("draw", ALL)
def test_where_there_is_nothing_to_show_the_figure_says_so(rows, draw, tmp_path):
    nothing = metrics(rows, temperatures=(0.0,), pairs={"p": (None, "A", "")})
    assert any("Nothing to show" in text for text in texts(draw(nothing), tmp_path))
    assert any("Nothing to show" in text for text in texts(draw(nothing.iloc[:0]), tmp_path))


def marks(axes):
    dots = [c for c in axes.collections if isinstance(c, PathCollection)]
    return [tuple(at) for collection in dots for at in collection.get_offsets().tolist()]


def test_the_bound_figure_shows_every_cell_where_it_is(rows):
    """Right in both orders, and flipped with one order right: A = 3/4 of a possible 3/4."""
    axes = figures.bound(metrics(rows, temperatures=(0.0,))).axes[0]
    assert marks(axes) == [(0.75, 0.75)] * 4
    assert axes.lines[0].get_xydata().tolist() == [[0.5, 0.5], [1, 1]]


def test_the_plane_has_four_named_regions(rows, tmp_path):
    figure = figures.plane(metrics(rows, temperatures=(0.0,)))
    assert marks(figure.axes[0]) == [(0.5, 0.75)] * 4
    assert set(figures.REGIONS.values()) <= set(texts(figure, tmp_path))


def test_the_best_judge_is_on_top_and_the_lowest_temperature_shown(rows):
    good = metrics(rows, ["weak", "strong"])
    good.loc[(good["judge"] == "strong") & (good["metric"] == "T") & (good["temperature"] == 0), "value"] = 0.9
    axes = figures.trust_by_judge(good).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["weak", "strong"]
    assert len(marks(axes)) == 4


def test_a_panel_a_judge_against_temperature(rows):
    figure = figures.trust_by_temperature(metrics(rows, [f"judge {i}" for i in range(8)]))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [f"judge {i}" for i in range(8)]
    assert figure.axes[0].lines[0].get_xydata().tolist() == [[0, 0.375], [1, 0.375]]


def test_forty_judges_have_a_row_each(rows):
    figure = figures.trust_by_judge(metrics(rows, [f"judge {i:02}" for i in range(40)], (0.0,)))
    figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in figure.axes[0].get_yticklabels()]
    assert len(boxes) == 40
    assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))


def test_hostile_names_are_shown_as_they_are(rows, tmp_path):
    shown = texts(figures.trust_by_judge(metrics(rows, ["$x_{1}$ <b>&\x00\nz"])), tmp_path)
    assert "$x_{1}$ <b>& z" in shown
    assert name("x" * 99) == "x" * 39 + "…"


def test_series_are_told_apart_without_colour():
    found = looks(f"s{i}" for i in range(10)).values()
    assert len({look.mark for look in found}) == 10
    assert len({(look.colour, look.mark) for look in looks(map(str, range(70))).values()}) == 70
