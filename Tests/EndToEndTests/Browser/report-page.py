"""Opens an HTML report in headless Chromium, uses its table, and prints what it finds as JSON.

usage: report-page.py FILE.html QUERY

The items are searched for QUERY.
"""
import json
import os
import sys
import time

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("FERRY_CHROMIUM", "/usr/bin/chromium")


def rows(page):
    return page.eval_on_selector_all(
        ".body .row", "rows => rows.map(row => Array.from(row.children).map(cell => cell.textContent))")


def main(path, query):
    found = {"problems": [], "requests": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: found["problems"].append(message.text)
                if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: found["problems"].append(str(error)))
        page.on("request", lambda request: found["requests"].append(request.url))
        page.on("dialog", lambda dialog: (found["problems"].append("a dialog opened"), dialog.dismiss()))
        start = time.monotonic()
        page.goto("file://" + os.path.abspath(path))
        page.wait_for_selector("body[data-ready]", timeout=30_000)
        # Two frames, so that the page is painted.
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found["seconds"] = time.monotonic() - start
        found["title"] = page.title()
        found["verdict"] = page.inner_text(".verdict p")
        found["cards"] = page.eval_on_selector_all("section.card h2", "all => all.map(one => one.textContent)")
        # The rows of all timelines.
        found["lanes"] = page.eval_on_selector_all(
            "svg[aria-label^=Timeline] text.name", "all => all.map(one => one.textContent)")
        # The times below each of them.
        found["axes"] = page.eval_on_selector_all(
            "svg[aria-label^=Timeline]",
            "all => all.map(one => [...one.querySelectorAll('text:not(.name)')].map(text => text.textContent).join(' '))")
        found["scripts"] = page.evaluate("document.scripts.length")
        found["overflow"] = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        if page.query_selector("input[type=search]"):
            use_table(page, query, found)
        browser.close()
    print(json.dumps(found))


def use_table(page, query, found):
    found["items"] = page.inner_text(".items .tools .note")
    found["elements"] = page.evaluate("document.querySelectorAll('.body .row').length")
    page.fill("input[type=search]", query)
    page.wait_for_timeout(250)
    found["searched"] = [page.inner_text(".items .tools .note"), rows(page)[:3]]
    page.fill("input[type=search]", "")
    page.wait_for_timeout(250)
    page.click(".columns .size button")
    sizes = page.eval_on_selector_all(".body .row .size", "all => all.map(one => one.textContent)")
    page.click(".columns .size button")
    page.wait_for_timeout(50)
    found["sorted"] = [sizes[:3], [row[2] for row in rows(page)][:3]]
    page.click(".columns .size button")
    options = page.eval_on_selector_all("select[aria-label=State] option", "all => all.map(one => one.value)")
    found["filtered"] = {}
    for option in options:
        page.select_option("select[aria-label=State]", option)
        page.wait_for_timeout(50)
        found["filtered"][page.inner_text(f"select[aria-label=State] option[value='{option}']")] = page.inner_text(
            ".items .tools .note")
    page.select_option("select[aria-label=State]", "")
    # From the keyboard: to the second row, which is unfolded and folded again.
    page.focus(".body .row[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_timeout(50)
    found["unfolded"] = page.inner_text(".details dl")
    page.keyboard.press("End")
    page.wait_for_timeout(100)
    found["last"] = page.evaluate("document.activeElement.querySelector('.path').textContent")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    found["folded"] = page.query_selector(".details") is None


main(sys.argv[1], sys.argv[2])
