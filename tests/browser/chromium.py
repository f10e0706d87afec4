"""Headless Chromium, driven over its debugging protocol: a page from disk, of a device's width, without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import websocket

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or "chromium"
WIDTHS = {"desktop": 1440, "phone": 390}
PATIENCE_S = 500
WATCH = """
window.problems = [];
{
  const note = (text) => window.problems.push(text);
  for (const name of ["error", "unhandledrejection"]) {
    window.addEventListener(name, (event) => note(`${name}: ${event.message || event.reason}`), true);
  }
  document.addEventListener("securitypolicyviolation", (one) => note(`${one.violatedDirective} ${one.blockedURI}`));
  for (const name of ["error", "warn"]) console[name] = (...words) => note(`console.${name}: ${words.join(" ")}`);
}
const pause = (time) => new Promise((done) => setTimeout(done, time));
const marks = (plot) => [...plot.querySelectorAll(".scatterlayer path, .barlayer path, .heatmaplayer image")];
/* Scrolls to every chart until it is drawn. */
async function drawn() {
  const plots = [...document.querySelectorAll(".plot")];
  for (const plot of plots) {
    plot.scrollIntoView({ behavior: "instant" });
    while (!plot.querySelector(".main-svg")) await pause(20);
  }
  await pause(300);
  window.scrollTo({ top: 0, behavior: "instant" });
  return plots;
}
/* What holds for every page. */
async function looked() {
  const plots = await drawn();
  const picture = plots.length ? await Plotly.toImage(plots[0], { format: "png", width: 400, height: 300 }) : "";
  return {
    problems: window.problems,
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !/^data:/.test(name)),
    pageWidth: document.documentElement.scrollWidth,
    wider: plots.filter((plot) => plot.querySelector(".main-svg").clientWidth > plot.clientWidth + 1).length,
    plots: plots.length,
    empty: plots.filter((plot) => !marks(plot).length).map((plot) => plot.getAttribute("aria-label")),
    picture: picture.slice(0, 15),
  };
}
"""
WHOLE = {"problems": [], "loaded": [], "wider": 0, "empty": [], "picture": "data:image/png;"}
"""The result of `looked` for a correct page, besides its width and the number of its charts."""


class Tab:
    """A page that is open."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE_S)
        self._sent = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; discard events that come meanwhile."""
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._sent:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def find(self, script: str) -> Any:
        """Return the result of an asynchronous function with this body in the page."""
        code = f"(async () => {{ {script} }})()"
        found = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def leave(self, script: str) -> None:
        """Run a script that opens another page; wait until that is loaded."""
        self._sent += 1
        self._socket.send(
            json.dumps({"id": self._sent, "method": "Runtime.evaluate", "params": {"expression": script}})
        )
        for event in ("Page.frameNavigated", "Page.loadEventFired"):
            while json.loads(self._socket.recv()).get("method") != event:
                pass

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move, press or release the mouse."""
        pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def close(self) -> None:
        """Close the connection to the page."""
        self._socket.close()


@contextmanager
def open_page(page: Path, width: int, profile: Path, scheme: str = "light") -> Iterator[Tab]:
    """Open the page in a separate Chromium."""
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--hide-scrollbars",
        "--remote-debugging-port=0",
        "--remote-allow-origins=*",
        f"--user-data-dir={profile}",
        "about:blank",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        tab = None
        try:
            port = next(
                found[1] for line in process.stderr if (found := re.search(r"listening on ws://[^:]+:(\d+)", line))
            )
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                [address] = [one["webSocketDebuggerUrl"] for one in json.load(answer) if one["type"] == "page"]
            tab = Tab(address)
            tab.call("Page.enable")
            phone = width < 500
            tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=phone)
            tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            tab.call("Page.navigate", url=page.resolve().as_uri())
            tab.find('while (document.readyState !== "complete") await new Promise((done) => setTimeout(done, 20));')
            yield tab
        finally:
            if tab is not None:
                # else it leaves a folder among the temporary files
                with suppress(websocket.WebSocketException, OSError):
                    tab.call("Browser.close")
                tab.close()
                process.wait(timeout=PATIENCE_S)
            process.kill()
