"""Chromium without a window, spoken to over a pipe: what a page looks like when it is laid out and painted."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe"),
    "--disable-features=BackForwardCache",  # a page that was left takes no memory
)


def chromium() -> str | None:
    """The system's Chromium, None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One Chromium with one page. Commands and answers of its protocol end with a zero byte.

    troubles: what pages wrote to the console as an error or a warning, and what their scripts raised.
    """

    def __init__(self, program: str, width: int, height: int, *, dark: bool = False) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def connect() -> None:  # in the child: descriptors 3 and 4 are those of the protocol
            first, second = os.dup(to_read), os.dup(to_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        options = [*QUIET, f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"]
        self._process = subprocess.Popen(
            [program, *options],
            preexec_fn=connect,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._count, self._rest, self._session = 0, b"", ""
        self.troubles: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "CSS"):
            self.call(f"{domain}.enable")
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def call(self, method: str, *, at_browser: bool = False, **parameters: Any) -> Any:
        """One command of the DevTools protocol, to the page or ``at_browser``, and its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        session = {"sessionId": self._session} if self._session and not at_browser else {}
        os.write(self._write, json.dumps(message | session).encode())
        os.write(self._write, b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, address: str) -> None:
        """Load a page and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript on the page, awaited."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def fonts(self, selector: str) -> dict[str, int]:
        """The fonts that the text of one element is set in, each with the number of its glyphs."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        used = self.call("CSS.getPlatformFontsForNode", nodeId=node)["fonts"]
        return {("own " if one["isCustomFont"] else "") + one["familyName"]: int(one["glyphCount"]) for one in used}

    def page_memory(self) -> float:
        """MB that the process of the page has for itself; what it shares with others is the program."""
        self.call("HeapProfiler.collectGarbage")
        found = self.call("SystemInfo.getProcessInfo", at_browser=True)["processInfo"]
        sizes = []
        for process in (process for process in found if process["type"] == "renderer"):
            text = Path(f"/proc/{process['id']}/smaps_rollup").read_text(encoding="ascii")
            own = sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+) kB", text, re.MULTILINE))
            sizes.append(own / 1000)
        return max(sizes)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._read, 1 << 16)
            assert read, "Chromium ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if (trouble := _trouble(found)) is not None:
            self.troubles.append(trouble)
        return found


def _trouble(message: dict[str, Any]) -> str | None:
    given = message.get("params", {})
    match message.get("method"):
        case "Runtime.exceptionThrown":
            return str(given["exceptionDetails"])
        case "Runtime.consoleAPICalled" if given["type"] in ("error", "warning", "assert"):
            return str(given["args"])
        case "Log.entryAdded" if given["entry"]["level"] in ("error", "warning"):
            return str(given["entry"]["text"])
    return None
