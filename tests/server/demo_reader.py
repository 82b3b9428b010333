"""What a person sees and does on the demo page, in a real browser."""

from __future__ import annotations

import chromium
from selenium.webdriver.common.by import By

RECTANGLES = "(nodes => [...nodes].map(n => n.getBoundingClientRect().toJSON()))"


class Page:
    """The demo page in a browser."""

    def __init__(self, browser, address, width=1280, height=800):
        self.browser, self.address = browser, address
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, query):
        self.browser.get(f"{self.address}/?{query}")
        return self

    def js(self, expression, *arguments):
        before = "const root = document.querySelector('grounded-stream').shadowRoot;"
        return self.browser.execute_script(f"{before} return {expression};", *arguments)

    def wait(self, expression):
        return chromium.until(self.browser, lambda: self.js(expression))

    def play(self, case, policy="flag"):
        return self.open(f"case={case}&policy={policy}&speed=200").ended()

    def ended(self):
        self.wait("root.querySelector('.summary').dataset.ended !== undefined")
        return self

    def rectangle(self, selector, *, outside=False):
        where = "document" if outside else "root"
        return self.js(f"{where}.querySelector('{selector}').getBoundingClientRect().toJSON()")

    def rectangles(self, selector, *, outside=False):
        where = "document" if outside else "root"
        return [
            one for one in self.js(f"{RECTANGLES}({where}.querySelectorAll('{selector}'))") if one["width"]
        ]

    def no_scroll_bar_across(self):
        return self.js("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    def fill(self, field, text):
        self.browser.execute_script(
            "document.getElementById(arguments[0]).value = arguments[1]", f"own-{field}", text
        )

    def check(self, **fields):
        self.open("from=own&speed=200")
        self.wait("!document.getElementById('own').hidden")
        for field, text in fields.items():
            self.fill(field, text)
        self.browser.find_element(By.CSS_SELECTOR, "#own [type=submit]").click()
        return self
