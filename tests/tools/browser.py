"""Chromium without a window, for tests of pages."""
import json
import os
import shutil
import signal
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """Chromium, asked by its protocol over a pipe."""

    def __init__(self, folder):
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()

        def give():
            os.dup2(to_read, 1003)
            os.dup2(to_write, 1004)
            os.dup2(1003, 3)
            os.dup2(1004, 4)
            for fd in (1003, 1004):
                os.close(fd)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run",
             "--disable-extensions", f"--user-data-dir={folder}", "--remote-debugging-pipe"], preexec_fn=give,
            close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.events, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.to_read)
        os.close(self.to_write)

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.to_read, 1 << 20)
            assert more, "the browser ended"
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height=800, theme="light"):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.events.clear()
        self.ask("Page.navigate", url="file://" + path)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


# The lowest contrast of text that is shown, by WCAG's formula, and what it is: in HTML on the nearest
# background behind it, in boxes of the graph on the box.
CONTRAST = """(() => {
  const light = color => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(color) && color !== "transparent") return color;
    }
    return "rgb(255, 255, 255)";
  };
  let least = [99, "", 0], seen = 0;
  const see = (value, what) => { ++seen; if (value < least[0]) least = [value, what, 0]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || e.closest("script, style, svg") || !e.getClientRects().length) continue;
    see(ratio(getComputedStyle(e).color, behind(e)), e.outerHTML.slice(0, 200));
  }
  for (const text of document.querySelectorAll(".n text"))
    see(ratio(getComputedStyle(text).fill, getComputedStyle(text.parentElement.querySelector("rect")).fill), text.outerHTML);
  least[2] = seen;
  return least;
})()"""
