"""A real browser for the tests that look at a page."""

from __future__ import annotations

import chromium
import pytest


class Reader:
    """A browser, and how a reader would have set it up."""

    def __init__(self, driver) -> None:
        self.driver = driver

    def open(self, address: str, *, width: int = 1280, dark: bool = False, scripts: bool = True) -> None:
        command = self.driver.execute_cdp_cmd
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        command("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        command("Emulation.setEmulatedMedia", {"features": [scheme]})
        command("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.driver.get("about:blank")
        self.driver.get(address)

    def js(self, expression: str, *arguments):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def wait(self, expression: str):
        return chromium.until(self.driver, lambda: self.js(expression))

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    with chromium.started(
        tmp_path_factory.mktemp("profile"), "--headless=new", "--window-size=1280,900"
    ) as made:
        yield Reader(made)
