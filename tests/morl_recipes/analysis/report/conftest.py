"""A headless Chromium driven over its DevTools pipe, network off, with nothing beyond the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-default-apps", "--disable-dev-shm-usage", "--disable-extensions"]
FLAGS += ["--disable-sync", "--enable-unsafe-swiftshader", "--no-first-run", "--no-default-browser-check"]
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe"]


class Browser:
    """One page of one browser; every message of the console and every request is remembered."""

    def __init__(self, executable: str, profile: Path) -> None:
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()
        # Chromium expects its pipe on descriptors 3 and 4.
        wire = f'exec "$@" 3<&{command_read} 4>&{answer_write}'
        arguments = ["bash", "-c", wire, "bash", executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        pipes = (command_read, answer_write)
        self._log = (profile.parent / "chromium.log").open("wb")
        self._process = subprocess.Popen(arguments, pass_fds=pipes, stdout=self._log, stderr=self._log)
        for pipe in pipes:
            os.close(pipe)
        self._buffer, self._count, self._session = b"", 0, ""
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self, timeout: float = 60.0) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], timeout)
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError(f"Chromium went silent; see {self._log.name}")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        parsed: dict[str, Any] = json.loads(message)
        return parsed

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                self.problems.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.problems.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    def look(self, width: int, height: int, scheme: str = "light") -> None:
        """Choose the size of the window and the colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page: Path) -> None:
        """Load a file and wait until its script has run."""
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 40.0) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {condition}; {self.problems}")
            time.sleep(0.05)

    def draw_everything(self) -> None:
        """Make the window as high as the page, so that every figure is drawn."""
        width, dark = self.run("innerWidth"), self.run("matchMedia('(prefers-color-scheme: dark)').matches")
        for _ in range(2):
            height = int(self.run("document.documentElement.scrollHeight"))
            self.look(width, height + 10, "dark" if dark else "light")
            self.wait("[...document.querySelectorAll('.figure')].every((d) => d.children.length > 0)")

    def screenshot(self, path: Path) -> None:
        """Save what the window shows."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser that this object started."""
        try:
            self._session = ""
            self.call("Browser.close")
            self._process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(10)
        finally:
            os.close(self._read)
            os.close(self._write)
            self._log.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None or shutil.which("bash") is None:
        pytest.skip("needs Chromium and bash: on Debian, `apt-get install chromium`")
    made = Browser(CHROMIUM, tmp_path_factory.mktemp("chromium") / "profile")
    yield made
    made.close()
