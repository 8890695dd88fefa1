import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from analysis import drawing, twins
from analysis.inline_svg import inline
from analysis.report import Plate, grid, render


def svg(figure, folder):
    return drawing.save(figure, folder / "figure")[0].read_text(encoding="utf-8")


def test_the_numbers_of_marks_with_their_intervals():
    with drawing.canvas(3, 2) as (figure, (axes,)):
        axes.hlines([0, 1], [0.1, 0.4], [0.3, 0.6], color="#0072B2")
        axes.scatter([0.2, 0.5], [0, 1], c="#0072B2", label="T")
        axes.axvline(0.25)  # For the eye alone.
        axes.set(xlabel="rate")
        axes.set_yticks([0, 1], ["judge a", "judge b"])
    found = twins.numbers(figure)
    assert found.to_dict("list") == {
        "series": ["T", "T"],
        "row": ["judge a", "judge b"],
        "rate": [0.2, 0.5],
        "rate, low": [0.1, 0.4],
        "rate, high": [0.3, 0.6],
    }


def test_the_numbers_of_lines_bars_and_shades():
    with drawing.canvas(3, 2, 2) as (figure, (left, right)):
        left.plot([0, 1], [0.5, float("nan")], label="line")
        left.set(xlabel="temperature", ylabel="T", title="first")
        right.bar([0, 1], [3, 4], label="bars")
        right.set_title("second")
    found = twins.numbers(figure)
    assert found["panel"].tolist() == ["first", "second", "second"]
    assert found["T"].tolist() == [0.5, 3, 4]
    with drawing.canvas(3, 2) as (figure, (axes,)):
        axes.imshow([[1, 2], [3, 4]])
        axes.set_xticks([0, 1], ["x", "y"])
        axes.set_yticks([0, 1], ["p", "q"])
    assert twins.numbers(figure).to_numpy().tolist() == [["p", "x", 1], ["p", "y", 2], ["q", "x", 3], ["q", "y", 4]]


def test_marks_that_stand_for_cells_are_named():
    with drawing.canvas(3, 2) as (figure, (axes,)):
        twins.named(axes.scatter([1, 2], [3, 4], label="set"), ["judge a", "judge b"])
    assert twins.numbers(figure)["of"].tolist() == ["judge a", "judge b"]


def test_a_figure_without_data_has_no_numbers():
    assert twins.numbers(drawing.empty("Title", "no reason")).empty


def test_two_figures_of_a_page_share_no_id(tmp_path):
    with drawing.canvas(3, 2) as (figure, (axes,)):
        axes.scatter([1, 2], [3, 4], label='a "quoted" <script>alert(1)</script>')
        axes.legend()
    text = svg(figure, tmp_path)
    one, other = inline(text, "one", "a & b"), inline(text, "other", "c")
    ids = [set(re.findall(r' id="([^"]+)"', part)) for part in (one, other)]
    assert ids[0] and not ids[0] & ids[1]
    targets = set(re.findall(r'href="#([^"]+)"', one)) | set(re.findall(r"url\(#([^)]+)\)", one))
    assert targets and targets <= ids[0]
    assert 'role="img"' in one and 'aria-label="a &amp; b"' in one
    assert "<script" not in one and "&lt;script&gt;" in one


def test_nothing_in_a_figure_runs_or_is_fetched():
    hostile = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)">'
        '<style>@import "http://x";</style><script>alert(1)</script><a xlink:href="javascript:alert(1)"><path/></a>'
        '<image xlink:href="http://x/y.png"/><rect fill="url(http://x)"/><use xlink:href="#m"/></svg>'
    )
    made = inline(hostile, "n", "label")
    assert "http://x" not in made and "alert" not in made and 'href="#n-m"' in made


@given(st.text(max_size=30))
def test_whatever_a_cell_holds_is_shown_as_text(text):
    shown = grid(pd.DataFrame({text or "c": [text]}), "t", text)
    page = render_table(shown)
    inside = re.sub(r"<[^<>]*>", "", page)
    assert "<" not in inside


def render_table(shown):
    from jinja2 import Environment, PackageLoader

    env = Environment(loader=PackageLoader("analysis", "templates"), autoescape=True)
    return env.from_string('{% import "parts.html" as parts %}{{ parts.table(g) }}').render(g=shown)


def test_tables_have_captions_and_heads_and_say_what_they_leave_out():
    shown = grid(
        pd.DataFrame({"judge": ["a"] * 5, "T": ["0.5 [0.4, 0.6]"] * 5}), "t", "Trust", file="tables/t.csv", most=2
    )
    page = render_table(shown)
    assert "<caption>Trust" in page and page.count('scope="row"') == 2 and page.count('scope="col"') == 2
    assert "3 more rows are in tables/t.csv" in page
    assert '0.5 <span class="interval">[0.4, 0.6]</span>' in page
    assert Plate("n", "c", "", None).wide is False


def test_a_template_that_lacks_a_value_is_an_error():
    import jinja2
    import pytest

    with pytest.raises(jinja2.UndefinedError):
        render("report.html")
