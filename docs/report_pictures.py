"""Draw the pictures of the page again, from real runs.

Run: python docs/report_pictures.py. It needs playwright and an installed chromium. The pictures are those of
docs/howto.md and the README.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from analogical import load_table, report

IMAGES = Path(__file__).resolve().parent / "images"
PICTURES = {
    "report-light": {"table": "titanic", "width": 1100, "height": 1480, "scheme": "light", "at": "body"},
    "report-dark": {"table": "monks-1", "width": 1100, "height": 1500, "scheme": "dark", "at": "#ranking"},
    "report-narrow": {"table": "titanic", "width": 400, "height": 1300, "scheme": "dark", "at": "#ranking"},
}
"""For each picture the built-in table, the window, its colours, and the part of the page at its top."""


def main() -> int:
    """Write the pages to a folder that is thrown away, and take pictures of them."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stderr.write("The pictures need chromium; Debian has it: apt-get install chromium\n")
        return 1
    from playwright.sync_api import sync_playwright

    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, picture in PICTURES.items():
            table = load_table(picture["table"])
            path = Path(folder) / f"{name}.html"
            report(table.to_frame(), table.label, weights="count").save(path)
            window = {"width": picture["width"], "height": picture["height"]}
            context = browser.new_context(offline=True, viewport=window, color_scheme=picture["scheme"])
            page = context.new_page()
            page.goto(path.as_uri())
            if picture["at"] != "body":
                page.locator("article.feature details").first.evaluate("panel => { panel.open = true; }")
            top = page.locator(picture["at"]).bounding_box()["y"] - (0 if picture["at"] == "body" else 16)
            clip = {"x": 0, "y": max(top, 0), **window}
            page.screenshot(path=IMAGES / f"{name}.png", full_page=True, clip=clip)
            context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
