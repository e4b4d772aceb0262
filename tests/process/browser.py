"""Controls a headless Chromium with its debugging protocol over two pipes.

    with Browser() as browser:
        page = browser.open("http://127.0.0.1:9464/")
        page.wait("document.getElementById('badge') !== null")
        page.value("document.title")        # the value of an expression
        page.said                           # console warnings and errors, and uncaught exceptions
        page.asked                          # URLs that the page requested
        page.picture("a.png", width, height)
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 120  # limit of each wait, long enough for a busy machine
LOOK_S = 0.1


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    def __init__(self, browser, session):
        self.browser, self.session, self.said, self.asked = browser, session, [], []

    def do(self, method, **params):
        return self.browser.do(method, self.session, **params)

    def on_event(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.said.append(str(params["exceptionDetails"].get("exception", {}).get("description")
                                 or params["exceptionDetails"]["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.said.append(" ".join(str(arg.get("value")) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.said.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    def value(self, expression):
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + PATIENCE_S
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"not true within {PATIENCE_S} s: {expression}")
            time.sleep(LOOK_S)

    def picture(self, path, width, height, is_dark=False):
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height,
                deviceScaleFactor=1, mobile=False)
        self.do("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])
        time.sleep(0.5)  # until the page has been redrawn
        data = self.do("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


class Browser:
    def __init__(self, program=None):
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "sh", program or find(),
             "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, from_write), stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.pages = 0, b"", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def take(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise AssertionError("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:
            page.on_event(message["method"], message["params"])
        return message

    def do(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.take()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, address):
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for part in ("Page", "Runtime", "Log", "Network"):
            page.do(part + ".enable")
        page.do("Page.navigate", url=address)
        return page
