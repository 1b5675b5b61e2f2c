"""The page in a real browser: opened from disk, offline, as a reader opens it.

Needs playwright and a chromium that is installed (Debian: ``apt-get install chromium``); nothing is downloaded but
axe-core, from npm, for the check of accessibility. What cannot be had is skipped, with a reason.
"""

import os
import shutil
import subprocess
import tarfile
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest

from analogical import load_table, report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = "axe-core@4"
ALERT = "<script>alert(1)</script>"
IMAGE = "\"'><img src=x onerror=alert(2)>"

if CHROMIUM is None:
    pytest.skip("chromium is not installed; Debian has it: apt-get install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths of pages by name."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (150, 30))
    # Few rows, many features: a table that is cut, and a page that is quickly made.
    wide = pl.DataFrame({f"x{k}": codes[:, k] for k in range(30)} | {"y": codes[:, 0] ^ codes[:, 1]})
    odd = pl.DataFrame(
        {
            ALERT: np.where(codes[:, 0], ALERT, "u"),
            IMAGE: np.where(codes[:, 1], IMAGE, "v"),
            "long": np.where(codes[:, 2], "w" * 1000, "short"),
            "javascript:alert(3)": np.where(codes[:, 3], "a\u202eb", "שלום"),
            ALERT + "label": np.where(codes[:, 0] & codes[:, 1], IMAGE, ALERT),
        }
    )
    berkeley = load_table("berkeley").to_frame("polars")
    made = {
        "titanic": report(load_table("titanic").to_frame("polars"), "survived", weights="count"),
        "berkeley": report(berkeley, "admitted", weights="count", protected="gender"),
        "wide": report(wide, "y", top=3),
        "odd": report(odd, ALERT + "label", protected=[ALERT], title=IMAGE),
    }
    return {name: found.save(folder / f"{name}.html") for name, found in made.items()}


@contextmanager
def opened(browser, path, **options):
    """A page without a network; whatever the browser complains about, and every request, is an error."""
    context = browser.new_context(offline=True, reduced_motion="reduce", **options)
    page = context.new_page()
    troubles = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: troubles.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    yield page
    context.close()
    assert troubles == []


def names_shown(page):
    """Names of the features in the table; the direction of an effect stands in the line below."""
    return [text.split("\n")[0] for text in page.locator("#ranked tbody tr:visible th").all_inner_texts()]


@pytest.mark.parametrize(("name", "width"), [("berkeley", 1280), ("titanic", 400), ("wide", 400), ("odd", 400)])
def test_a_page_opens_offline_without_complaint_and_fits_its_window(browser, pages, name, width):
    with opened(browser, pages[name], viewport={"width": width, "height": 900}) as page:
        page.get_by_role("button", name="Open all panels").click()
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_features_are_sorted_by_any_column(browser, pages):
    with opened(browser, pages["titanic"]) as page:
        assert names_shown(page) == ["sex", "age", "class"]
        head = page.locator("#ranked th", has_text="alone")
        head.get_by_role("button").click()
        assert names_shown(page) == ["sex", "class", "age"]
        assert head.get_attribute("aria-sort") == "descending"
        assert page.locator("#ranked [aria-sort]").count() == 1
        head.get_by_role("button").press("Enter")
        assert names_shown(page) == ["age", "class", "sex"]
        assert head.get_attribute("aria-sort") == "ascending"
        page.locator("#ranked th", has_text="p adj.").get_by_role("button").click()
        assert names_shown(page) == ["sex", "age", "class"]  # all are <.001
        page.locator("#ranked th", has_text="points").last.get_by_role("button").click()
        assert names_shown(page) == ["sex", "age", "class"]
        page.locator("#ranked th", has_text="points").last.get_by_role("button").click()
        assert names_shown(page) == ["class", "age", "sex"]
        page.locator("#ranked thead th", has_text="feature").get_by_role("button").click()
        assert names_shown(page) == ["age", "class", "sex"]


def test_features_are_filtered_and_all_shown_on_demand(browser, pages):
    with opened(browser, pages["wide"]) as page:
        assert len(names_shown(page)) == 20
        assert page.locator("#shown").inner_text() == "20 of 30 features shown"
        page.get_by_role("button", name="Show all 30 features").click()
        assert len(names_shown(page)) == 30
        page.get_by_role("button", name="Show the best 20").click()
        page.get_by_label("Filter").fill("X29")
        assert names_shown(page) == ["x29"]
        page.get_by_label("Filter").fill("x1")
        assert len(names_shown(page)) == 11
        assert all(name.startswith("x1") for name in names_shown(page))
        page.get_by_label("Filter").fill("nowhere")
        assert names_shown(page) == []
        page.get_by_label("Filter").fill("")
        assert len(names_shown(page)) == 20


def test_panels_open_by_keyboard_by_link_and_all_at_once(browser, pages):
    with opened(browser, pages["titanic"]) as page:
        panels = page.locator("article.feature details")
        is_open = "panels => panels.map(panel => panel.open)"
        assert panels.evaluate_all(is_open) == [False, False, False]
        panels.nth(0).locator("summary").focus()
        page.keyboard.press("Enter")
        assert panels.evaluate_all(is_open) == [True, False, False]
        assert page.get_by_text("Changed: the labels differ").first.is_visible()
        page.locator("#ranked").get_by_role("link", name="class").click()
        panels.nth(2).locator("p, table").first.wait_for(state="visible")
        assert panels.evaluate_all(is_open) == [True, False, True]
        page.get_by_role("button", name="Open all panels").click()
        assert panels.evaluate_all(is_open) == [True, True, True]
        page.get_by_role("button", name="Close all panels").click()
        assert panels.evaluate_all(is_open) == [False, False, False]


def test_without_javascript_everything_can_be_read(browser, pages):
    with opened(browser, pages["wide"], java_script_enabled=False) as page:
        assert page.locator("#ranked tbody tr:visible").count() == 30
        assert page.locator(".controls:visible").count() == 0
        page.locator("article.feature summary").first.click()
        assert page.get_by_text("Values and their label shares").first.is_visible()


@pytest.mark.parametrize("scripted", [True, False])
def test_on_paper_panels_are_open_and_controls_are_gone(browser, pages, scripted):
    with opened(browser, pages["titanic"], java_script_enabled=scripted, color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.locator(".controls:visible").count() == 0
        assert page.locator("nav:visible").count() == 0
        assert page.locator("mark").first.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(253, 241, 229)"
        assert page.get_by_text("Values and their label shares").first.is_visible()
        assert page.get_by_text("Unchanged: the labels are the same").first.is_visible()
        assert page.pdf().startswith(b"%PDF")


def test_no_script_of_the_data_runs(browser, pages):
    with opened(browser, pages["odd"]) as page:
        page.get_by_role("button", name="Open all panels").click()
        page.locator("#ranked thead th", has_text="feature").get_by_role("button").click()
        assert sorted(names_shown(page)) == sorted([ALERT, IMAGE, "long", "javascript:alert(3)"])
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.locator("h1").inner_text() == IMAGE
        assert page.evaluate("JSON.parse(document.getElementById('result').textContent).title") == IMAGE


def test_the_policy_refuses_other_scripts(browser, pages):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(pages["titanic"].as_uri())
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)"
    )
    assert page.evaluate("window.ran") is None
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colours_of_the_system(browser, pages, scheme):
    with opened(browser, pages["titanic"], color_scheme=scheme) as page:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The source of axe-core, fetched from npm for this run only."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core cannot be fetched: npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run([npm, "pack", AXE], cwd=folder, capture_output=True, check=True, timeout=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("axe-core cannot be fetched: npm has no way to its registry")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("wide", 1280, "light"), ("berkeley", 1280, "dark"), ("odd", 400, "light")]
)
def test_accessibility_has_no_serious_finding(browser, pages, axe, name, width, scheme):
    with opened(browser, pages[name], viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.get_by_role("button", name="Open all panels").click()
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []
