#!/usr/bin/env python3
"""The live page of a run in a real browser: what a person sees, and what the buttons do.

    live_page.py FIXTURE [SCREENSHOT.png]

FIXTURE (live_fixture.cpp) serves the page of a run that only pretends. Chromium is driven over a pipe by its DevTools
protocol. Exits with 77 where there is no Chromium.
"""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SECONDS = 600  # for anything that the page is expected to show

HELPERS = """
const row = name => document.querySelector(`tr[data-model="${CSS.escape(name)}"]`);
const state = name => row(name)?.querySelector(".badge").textContent;
const press = (name, text) => [...row(name).querySelectorAll("button")].find(b => b.textContent === text).click();
const text = id => document.getElementById(id).textContent;
const confirm_with = changes => { const input = document.getElementById("changes"); input.value = changes;
                                  document.getElementById("yes").click(); };
const curve = () => Math.max(0, ...[...document.querySelectorAll("#content svg path")].map(p => p.getAttribute("d").length));
const until = (what, seconds) => new Promise((yes, no) => {
  const end = Date.now() + 1000 * seconds;
  const timer = setInterval(() => {
    if (what()) { clearInterval(timer); yes(true); }
    else if (Date.now() > end) { clearInterval(timer); no(new Error("not within " + seconds + " s")); }
  }, 50);
});
"""


def require(holds, text):
    if not holds:
        sys.exit(f"FAILED: {text}")


class Browser:
    """One page in headless Chromium."""

    def __init__(self, program, profile):
        self.number, self.session, self.complaints, self.unread = 0, None, [], b""
        reads, self.commands = os.pipe()
        self.events, writes = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (reads, writes)]  # not 3 or 4, which Chromium reads and writes
        os.close(reads), os.close(writes)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--window-size=1120,1500", f"--user-data-dir={profile}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)

    def close(self):
        os.close(self.commands)
        self.process.terminate()
        self.process.wait()
        os.close(self.events)

    def message(self):
        while b"\0" not in self.unread:
            more = os.read(self.events, 1 << 16)
            require(more, "Chromium has ended")
            self.unread += more
        first, self.unread = self.unread.split(b"\0", 1)
        return json.loads(first)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            m = self.message()
            refused = "/command?" in m.get("params", {}).get("entry", {}).get("url", "")  # what the run refuses has status 400
            if m.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded") and not refused:
                self.complaints.append(json.dumps(m["params"]))
            if m.get("id") == self.number:
                require("error" not in m, f"{method}: {m.get('error')}")
                return m["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.protocol === 'http:'")

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=f"(async () => {{ {HELPERS} return {script}; }})()", awaitPromise=True,
                           returnByValue=True)
        failure = result.get("exceptionDetails")
        require(not failure, f"{script}: {failure and failure['exception'].get('description')}")
        return result["result"].get("value")

    def wait(self, condition):
        self.run(f"until(() => {condition}, {SECONDS})")

    def screenshot(self, file):
        pathlib.Path(file).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def check_view(page):
    page.wait("text('connection') === 'live'")
    page.wait("state('gpt-a') === 'training' && state('gpt-b') === 'training' && state('gpt-c') === 'waiting'")
    require("for host memory" in page.run("row('gpt-c').textContent"), "what gpt-c waits for")
    page.wait("text('gauges').includes('memory 200.0 MiB of 250.0 MiB') && text('gauges').includes('busy 75 %')")
    require("2 training, 1 waiting" in page.run("text('summary')"), "the summary")
    page.wait("text('summary').endsWith(' left') && row('gpt-a').textContent.includes('0.001')")
    page.wait("curve() > 0")
    before = page.run("curve()")
    page.wait(f"curve() > {before}")
    page.wait("row('gpt-a').querySelector('i').style.background !== ''")


def check_commands(page):
    page.run("press('gpt-a', 'Stop')")
    require(page.run("state('gpt-a')") == "training", "a stop that was not confirmed yet")
    page.run("confirm_with('')")
    page.wait("state('gpt-a') === 'stopped' && state('gpt-c') === 'training'")
    page.run("(press('gpt-b', 'Stop'), confirm_with(''))")
    page.wait("state('gpt-b') === 'stopped' && text('gauges').includes('memory 100.0 MiB of 250.0 MiB, peak 200.0 MiB')")
    page.run("(press('gpt-c', 'Clone'), confirm_with('optimizer.learning_rate=1e-4 steps=20'))")
    page.wait("state('gpt-c-clone') === 'training' && text('message') === 'gpt-c-clone: a clone of gpt-c'")
    page.run("press('gpt-c', 'Pause')")
    page.wait("state('gpt-c') === 'paused' && !row('gpt-c').textContent.includes('Pause')")
    page.run("press('gpt-c', 'Resume')")
    page.wait("state('gpt-c') === 'training'")


def check_adding(page):
    def add(text):
        page.run(f"(document.getElementById('workload').value = {json.dumps(text)}, document.getElementById('add').click())")

    add("[[model]]\n")
    page.wait("text('message') === 'the text has no [[model]] with a name'")
    require(page.run("document.getElementById('workload').value") == "[[model]]\n", "a text that was refused stays")
    bad = "<img src=x onerror=document.title=1>"
    add(f'[[model]]\nname = "new"\n[[model]]\nname = "{bad}"\n')
    page.wait(f"state('new') === 'waiting' && state({json.dumps(bad)}) === 'waiting'")
    require(page.run("document.querySelectorAll('img').length") == 0, "a name is a text")


def check_end(page, fixture):
    fixture.stdin.close()
    page.wait("text('connection').startsWith('the run has ended')")
    require(page.run("[...document.querySelectorAll('button')].every(b => b.disabled)"), "no button without a run")
    require(page.run("curve()") > 0 and page.run("state('gpt-a')") == "stopped", "the page stays readable")


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        print("skipped: there is no chromium (Debian: apt install chromium); the live page is not tested in a browser")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as closing:
        fixture = subprocess.Popen([sys.argv[1], folder + "/run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        closing.callback(fixture.kill)
        url = fixture.stdout.readline().strip()
        page = Browser(chromium, folder + "/profile")
        closing.callback(page.close)
        page.open(url)
        check_view(page)
        if len(sys.argv) > 2:
            page.screenshot(sys.argv[2])
        check_commands(page)
        check_adding(page)
        check_end(page, fixture)
        require(fixture.wait(SECONDS) == 0, "the fixture ends")
        require(not page.complaints, "the browser's complaints: " + "\n".join(page.complaints))
    print("the live page shows and steers its run")


if __name__ == "__main__":
    main()
