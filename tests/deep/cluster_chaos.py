#!/usr/bin/env python3
"""Trains models on three nodes in network namespaces while machines and the network fail, and compares the results with those
of one machine: every loss, validation and digest, bit for bit.

    tests/deep/cluster_chaos.py build/release/bin/hydra [--rounds 30] [--seed 0] [--folder KEPT]

Each round starts a coordinator and three nodes, each in a namespace of its own on a bridge, and draws faults at random moments:
nodes are killed, frozen, told to leave, cut off, and given a slow link; the coordinator is killed or interrupted, and resumed;
models are paused and resumed; strangers send bytes; a node's disk is full. Of three rounds one is a search by halving
and one by pbt, whose copies join the run; a node is killed when they have decided about a rung; their decisions are compared, too. The nodes do not see the files of the workload,
which only the coordinator has. One node's clock is an hour ahead, one's an hour behind, and one is reached through
a relay that delays each way by 100 ms. Without the right to make namespaces all processes share the loopback interface, and
the faults of links are left out, and the nodes see all files.

One line for each round; exit status 1 with the first difference, hang or growth of memory, whose folder is kept. A round is
determined by the seed except for its moments."""
import argparse, contextlib, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time

PATIENCE_S = 240        # a round that takes longer hangs
MEMORY_MIB = 64         # by which a coordinator may grow
PORT = 7900
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long by(void) { const char* s = getenv("CLOCK_OFF_BY"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec* t) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int r = real(id, t);
  if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += by();
  return r;
}
time_t time(time_t* out) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (out) *out = t.tv_sec;
  return t.tv_sec;
}
int gettimeofday(struct timeval* t, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""
WORKLOAD = """
[run]
name = "chaos"
seed = 11
checkpoint = { every_steps = 25, keep = 2 }

[[device]]
kind = "cpu"
memory = "2MiB"

[data.language]
kind = "synthetic-language"
symbols = 24

[data.text]
kind = "text"
train = "inputs/text.txt"  # the nodes have neither
validation = "inputs/validation.txt"

[data.classes]
kind = "synthetic-classes"
features = 48
classes = 8

[[model]]
name = "gpt-{seed}"
chain = { family = "gpt2", layers = 4, width = 64, heads = 4, context = 32, dropout = 0.1 }
data = "language"
batch_size = 8
micro_batches = 2
steps = 200
optimizer = { learning_rate = 3e-3, clip_norm = 1.0 }
validate = { every_steps = 40, batches = 4, keep_best = true }
grid = { seed = [1, 2, 3, 4] }

[[model]]
name = "mlp-{seed}"
chain = { family = "mlp", layers = 3, width = 256 }
data = "classes"
batch_size = 32
steps = 300
optimizer = { kind = "sgd", learning_rate = 0.05, momentum = 0.9 }
grid = { seed = [5, 6] }

[[model]]
name = "together-added"
chain = { family = "mlp", layers = 3, width = 200 }
data = "classes"
batch_size = 32
micro_batches = 8
parallel = { replicas = 4, nodes = 3 }
steps = 200
optimizer = { learning_rate = 1e-3, clip_norm = 1.0 }

[[model]]
name = "together-gathered"  # its embedding is tied
chain = { family = "gpt2", layers = 2, width = 32, heads = 4, context = 16, dropout = 0.1 }
data = "text"
batch_size = 8
micro_batches = 4
parallel = { replicas = 2, nodes = 2 }
steps = 150
optimizer = { learning_rate = 1e-3 }
validate = { every_steps = 50, batches = 2 }
"""
SEARCH = WORKLOAD[:WORKLOAD.index("[[model]]")] + """
[host]
memory = "11MiB"  # for two trials

[search]
kind = "halving"
samples = 9
first = 40
factor = 2
space.learning_rate = { log_uniform = [1e-4, 1e-2] }

[[model]]
name = "gpt"
chain = { family = "gpt2", layers = 4, width = 64, heads = 4, context = 32, dropout = 0.1 }
data = "text"
batch_size = 8
micro_batches = 2
steps = 320
optimizer = { learning_rate = 3e-3, clip_norm = 1.0 }
validate = { every_steps = 40, batches = 4 }
"""
POPULATION = SEARCH.replace('"halving"', '"pbt"').replace("first = 40\nfactor = 2", "every = 80").replace("space.learning_rate", 'space."optimizer.learning_rate"')
WORKLOADS = {"w.toml": WORKLOAD, "s.toml": SEARCH, "p.toml": POPULATION}
DEVICES = '[[device]]\nkind = "cpu"\nmemory = "4MiB"\n'  # other cuts than the workload's


def write_inputs(folder):
    """Words that are the same in every round."""
    folder.mkdir()
    rng = random.Random(3)
    words = ["".join(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(2, 8))) for _ in range(200)]
    for name, n in (("text.txt", 100_000), ("validation.txt", 2_000)):
        (folder / name).write_text(" ".join(rng.choice(words) for _ in range(n)))


def run_quietly(*command):
    """Whether it succeeds; not where there is no such program."""
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


class Network:
    """A bridge, and namespaces that are connected to it; or the loopback interface."""

    def __init__(self):
        self.tag = f"hy{os.getpid() % 10000}"
        self.names = {}
        self.addresses = {}
        # entering a namespace mounts: in a chroot whose root is not a mount point, making one succeeds and entering it does not
        trial = f"{self.tag}t"
        self.real = all(run_quietly("ip", *command)
                        for command in (["link", "add", self.tag, "type", "bridge"], ["link", "set", self.tag, "up"],
                                        ["netns", "add", trial], ["netns", "exec", trial, "ip", "link", "set", "lo", "up"]))
        run_quietly("ip", "netns", "del", trial)
        if not self.real:
            run_quietly("ip", "link", "del", self.tag)

    def host(self, name):
        self.addresses[name] = "127.0.0.1"
        if not self.real:
            return "127.0.0.1"
        number = len(self.names) + 1
        space, inner, outer = f"{self.tag}{name}", f"{self.tag}i{number}", f"{self.tag}o{number}"
        self.names[name] = (space, inner, outer)
        for command in (["netns", "add", space], ["link", "add", outer, "type", "veth", "peer", "name", inner],
                        ["link", "set", inner, "netns", space], ["link", "set", outer, "master", self.tag],
                        ["link", "set", outer, "up"]):
            subprocess.run(["ip", *command], check=True)
        for command in (["addr", "add", f"10.77.0.{number}/24", "dev", inner], ["link", "set", inner, "up"],
                        ["link", "set", "lo", "up"]):
            subprocess.run(["ip", "-n", space, *command], check=True)
        self.addresses[name] = f"10.77.0.{number}"
        return self.addresses[name]

    def inside(self, name):
        return ["ip", "netns", "exec", self.names[name][0]] if self.real else []

    def cut(self, name, off):
        run_quietly("ip", "link", "set", self.names[name][2], "down" if off else "up")

    def slow(self, name, on):
        for where in ([], ["-n", self.names[name][0]]):
            device = self.names[name][1 if where else 2]
            if on:
                run_quietly("tc", *where, "qdisc", "replace", "dev", device, "root", "tbf", "rate", "200mbit", "burst", "64kb",
                            "latency", "400ms")
            else:
                run_quietly("tc", *where, "qdisc", "del", "dev", device, "root")

    def close(self):
        for space, _, outer in self.names.values():
            run_quietly("ip", "link", "del", outer)
            run_quietly("ip", "netns", "del", space)
        if self.real:
            run_quietly("ip", "link", "del", self.tag)


RELAY = r"""
import asyncio, sys
host, port, own, delay = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
async def copy(reader, writer):
    queue = asyncio.Queue(64)
    async def later():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()
    task = asyncio.create_task(later())
    try:
        while data := await reader.read(1 << 16):
            await queue.put((asyncio.get_running_loop().time() + delay, data))
    except OSError:
        pass
    await queue.put((0, b""))
    await task
async def serve(reader, writer):
    try:
        r, w = await asyncio.open_connection(host, port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, w), copy(r, writer), return_exceptions=True)
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", own)
    await server.serve_forever()
asyncio.run(main())
"""


def results_of(folder):
    r = json.loads((folder / "report.json").read_text())
    return {m["name"]: {k: m.get(k) for k in ("status", "steps", "digest", "loss", "grad_norm")}
            | {"validation": [(v["step"], v["loss"]) for v in m.get("validation", [])]} for m in r["models"]}


def decisions_of(folder):
    """By trial and steps: one that is asked again is answered as before."""
    file = folder / "search.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    decided = {}
    for line in lines:
        for d in json.loads(line)["decisions"]:
            if d["verdict"] != "wait" and decided.setdefault((d["trial"], d["steps"]), d) != d:
                decided[d["trial"], d["steps"]] = "two decisions"
    return decided


def differs(got, want, key):
    """Whether parameters that are known have another digest: those of a trial that stops without memory are not."""
    return got != want and not (key == "digest" and None in (got, want))


def memory_mib(pid):
    with contextlib.suppress(OSError, ValueError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0


class Round:
    def __init__(self, hydra, folder, workload, models, shim, rng, network):
        self.hydra, self.folder, self.workload, self.models = hydra, folder, workload, models
        self.shim, self.rng, self.network = shim, rng, network
        self.processes, self.stopped, self.undo, self.faults = {}, set(), [], []
        self.most_memory = 0
        self.rung = rng.randint(1, 6)  # after so many records of a search a node is killed

    def start(self, name, command, inside, extra=None):
        log = open(self.folder / f"{name}.log", "ab")
        env = os.environ | {"OMP_NUM_THREADS": "1"} | (extra or {})
        # ip netns exec replaces itself: signals reach the program
        self.processes[name] = subprocess.Popen([*self.network.inside(inside), *map(str, command)], cwd=self.folder, stdout=log,
                                                stderr=log, env=env)

    def start_coordinator(self, resume=False):
        self.start("c", [self.hydra, "train", self.workload, "--listen", f"{self.coordinator}:{PORT}", "--nodes",
                         "1" if resume else "3", "--no-local", "--output", "run", *(["--resume"] if resume else [])], "c")

    def start_node(self, n):
        by = {"1": ["--join", "run"], "2": ["--join", f"{self.coordinator}:{PORT}", "--keys", "run/keys"],
              "3": ["--join", f"127.0.0.1:{PORT + 3}", "--keys", "run/keys"]}[n]
        extra = {"1": {"CLOCK_OFF_BY": "3600"}, "2": {"CLOCK_OFF_BY": "-3600"}}.get(n, {})
        if extra:
            extra["LD_PRELOAD"] = str(self.shim)
        lacks_inputs = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none inputs && exec "$@"', "sh"] if self.network.real else []
        self.start(n, [*lacks_inputs, self.hydra, "node", *by, "--name", f"n{n}", "--folder", f"disk{n}",
                       *(["--devices", "devices.toml"] if n == "2" else []),
                       *(["--address", self.network.addresses[n]] if n == "3" else [])], n, extra)

    def begin(self, coordinator):
        self.coordinator = coordinator
        self.start_coordinator()
        until = time.monotonic() + PATIENCE_S
        while not (self.folder / "run/cluster.json").exists() and time.monotonic() < until:  # the keys are there before
            time.sleep(0.05)
        self.start("relay", [sys.executable, "-c", RELAY, coordinator, PORT, PORT + 3, 0.1], "3")
        for n in "123":
            self.start_node(n)

    def later(self, seconds, action):
        self.undo.append((time.monotonic() + seconds, action))

    def fault(self):
        n = self.rng.choice("123")
        kinds = ["kill", "freeze", "leave", "strangers", "kill-coordinator", "interrupt", "pause"]
        if self.network.real:
            kinds += ["cut", "slow", "full"]
        kind = self.rng.choice(kinds)
        node = self.processes[n]
        seconds = self.rng.choice([1, 3, 13])
        self.faults.append(f"{kind}{'' if 'coord' in kind or kind in ('strangers', 'interrupt', 'pause') else n}")
        if kind == "kill":
            self.kill(n)
        elif kind == "freeze":
            node.send_signal(signal.SIGSTOP)
            self.later(seconds, lambda: node.send_signal(signal.SIGCONT))
        elif kind == "leave":
            node.send_signal(signal.SIGTERM)
            self.later(self.rng.uniform(2, 4), lambda: self.again(n))
        elif kind == "cut":
            self.network.cut(n, True)
            self.later(seconds, lambda: self.network.cut(n, False))
        elif kind == "slow":
            self.network.slow(n, True)
            self.later(seconds, lambda: self.network.slow(n, False))
        elif kind == "full":
            fill = self.folder / f"disk{n}" / "fill"
            with contextlib.suppress(OSError), open(fill, "wb") as f:
                while True:
                    f.write(bytes(1 << 16))
                    f.flush()
            self.later(seconds, lambda: (fill.unlink(missing_ok=True), self.again(n)))
        elif kind == "pause":
            model = self.rng.choice(self.models)
            threading.Thread(target=self.control, args=("pause", model), daemon=True).start()
            for after in (seconds, seconds + 5):  # a node that is frozen hands it over late
                self.later(after, lambda: self.control("resume", model))
        elif kind == "strangers":
            threading.Thread(target=self.strangers, daemon=True).start()
        else:
            c = self.processes["c"]
            if c.poll() is None:
                c.kill() if kind == "kill-coordinator" else c.send_signal(signal.SIGINT)
                until = time.monotonic() + 60
                while c.poll() is None and time.monotonic() < until:  # a full disk becomes free meanwhile
                    self.watch()
                    time.sleep(0.1)
                self.start_coordinator(resume=True)
                for n in "123":  # the run was over for them
                    self.again(n)

    def kill(self, n):
        self.processes[n].kill()
        self.later(self.rng.uniform(0, 3), lambda: self.again(n))

    def kill_at_rung(self):
        """Whether the search has decided so often; then a node dies, before the trials that go on are anywhere."""
        file = self.folder / "run/search.jsonl"
        if not file.exists() or file.read_bytes().count(b"\n") < self.rung:
            return False
        n = self.rng.choice("123")
        self.faults.append(f"kill{n} at record {self.rung}")
        self.kill(n)
        return True

    def again(self, n):
        """A node that was not asked to end by itself is started again; one that still runs is left alone."""
        if self.processes[n].poll() is not None:
            self.start_node(n)

    def control(self, command, model):
        run_quietly(str(self.hydra), "control", str(self.folder / "run"), command, model)

    def strangers(self):
        """The bytes that end a process without TLS, and random ones."""
        code = ("import socket,os,sys\n"
                f"for b in (bytes(31)+b'\\x01', b'\\x00'*12+b'\\xff\\xff\\xff\\xff'+bytes(16), os.urandom(4000)):\n"
                "  for i in range(20):\n"
                "    try:\n"
                f"      s=socket.create_connection(('{self.coordinator}',{PORT}),2); s.sendall(b); s.settimeout(.05); s.recv(100)\n"
                "    except OSError: pass\n")
        subprocess.run([*self.network.inside("1"), sys.executable, "-c", code], timeout=120)

    def watch(self):
        now = time.monotonic()
        due = [a for t, a in self.undo if t <= now]
        self.undo = [(t, a) for t, a in self.undo if t > now]
        for action in due:
            action()
        c = self.processes["c"]
        memory = memory_mib(c.pid)
        self.most_memory = max(self.most_memory, memory)

    def go(self, faults, spread):
        moments = sorted(self.rng.uniform(1, spread) for _ in range(faults))
        began = time.monotonic()
        before_rung = self.workload != "w.toml"
        while True:
            self.watch()
            before_rung = before_rung and not self.kill_at_rung()
            now = time.monotonic() - began
            if self.processes["c"].poll() is not None and not moments:
                return self.processes["c"].returncode
            if self.processes["c"].poll() is not None and moments:
                moments = []  # it was over before
                continue
            if moments and now >= moments[0]:
                moments.pop(0)
                self.fault()
            if now > PATIENCE_S:
                return "hangs"
            time.sleep(0.05)

    def end(self):
        for _, action in self.undo:
            action()
        for p in self.processes.values():
            if p.poll() is None:
                with contextlib.suppress(OSError):
                    p.send_signal(signal.SIGCONT)
                p.terminate()
        for p in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(20)
            p.kill()


def tiny_disks(folder, network):
    """Disks that can be full, if they can be made."""
    made = []
    for n in "123":
        (folder / f"disk{n}").mkdir()
        if network.real and run_quietly("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder / f"disk{n}")):
            made.append(folder / f"disk{n}")
    return made


def one_round(hydra, base, shim, seed, number, network, addresses, expected, calm):
    rng = random.Random(seed * 1000 + number)
    folder = base / f"round{number}"
    folder.mkdir()
    workload = list(WORKLOADS)[number % 3]
    wanted, decided = expected[workload]
    shutil.copy(base / workload, folder)
    shutil.copytree(base / "inputs", folder / "inputs")
    (folder / "devices.toml").write_text(DEVICES)
    disks = tiny_disks(folder, network)
    r = Round(hydra, folder, workload, sorted(wanted), shim, rng, network)
    began = time.monotonic()
    try:
        r.begin(addresses["c"])
        status = r.go(rng.randint(2, 6), spread=14)
    finally:
        r.end()
        for d in disks:
            run_quietly("umount", "-l", str(d))
    took = time.monotonic() - began
    wrong = []
    if status != 0:
        wrong.append(f"the coordinator ends with {status}")
    else:
        got = results_of(folder / "run")
        wrong = [f"{name}: {key} differs" for name, want in wanted.items() for key in want
                 if differs(got.get(name, {}).get(key), want[key], key)]
        if decisions_of(folder / "run") != decided:
            wrong.append("the search has decided otherwise")
    if network.real and not any("comes from the coordinator" in (folder / f"{n}.log").read_text() for n in "123"):
        wrong.append("no node took its inputs from the coordinator")
    if r.most_memory > calm + MEMORY_MIB:
        wrong.append(f"the coordinator grew to {r.most_memory:.0f} MiB from {calm:.0f}")
    print(f"round {number}: {', '.join(r.faults)}: {took:.0f} s, {'; '.join(wrong) or 'equal'}", flush=True)
    if not wrong:
        shutil.rmtree(folder, ignore_errors=True)
    return not wrong, r.most_memory


def refusals(hydra, base, network, addresses):
    """Who is not let in: each with what it is told."""
    folder = base / "refusals"
    folder.mkdir()
    shutil.copy(base / "w.toml", folder)
    shutil.copytree(base / "inputs", folder / "inputs")
    for name in ("keys", "other"):
        subprocess.run([hydra, "cluster", "keys", folder / name], check=True, stderr=subprocess.DEVNULL)
    shutil.copytree(folder / "keys", folder / "open")
    (folder / "open/key.pem").chmod(0o644)
    c = subprocess.Popen([*network.inside("c"), str(hydra), "train", "w.toml", "--listen", f"{addresses['c']}:{PORT}", "--keys", "keys",
                          "--set", "model.steps=100000", "--output", "run"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    next(line for line in c.stderr if line.startswith("nodes join by"))
    threading.Thread(target=c.stderr.read, daemon=True).start()  # the pipe does not fill
    node = [*network.inside("1"), str(hydra), "node", "--join", f"{addresses['c']}:{PORT}", "--patience", "2s", "--folder", "d"]
    cases = {"other keys": (["--keys", "other"], {}, "its keys are others"), "no keys": ([], {}, "needs the keys of the run"),
             "a key that others can read": (["--keys", "open"], {}, "others may read or change it"),
             "another build": (["--keys", "keys"], {"ATEN_CPU_CAPABILITY": "default"}, "results may have other bits")}
    right = True
    for name, (options, extra, words) in cases.items():
        p = subprocess.run([*node, *options], cwd=folder, env=os.environ | extra, capture_output=True, text=True, timeout=60)
        good = p.returncode != 0 and words in p.stderr
        print(f"{name}: exit status {p.returncode}, {'refused' if good else 'NOT AS EXPECTED: ' + p.stderr}", flush=True)
        right = right and good
    right = right and c.poll() is None
    c.terminate()
    c.wait(30)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("hydra", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=pathlib.Path)
    o = parser.parse_args()
    hydra = o.hydra.resolve()
    base = pathlib.Path(tempfile.mkdtemp(prefix="cluster", dir=o.folder))
    for name, text in WORKLOADS.items():
        (base / name).write_text(text)
    (base / "shim.c").write_text(SHIM)
    write_inputs(base / "inputs")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", base / "shim.so", base / "shim.c", "-ldl"], check=True)
    expected = {}
    for name in list(WORKLOADS)[:o.first + o.rounds]:
        subprocess.run([hydra, "train", name, "--quiet", "--output", f"alone-{name}"], cwd=base, check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"OMP_NUM_THREADS": "1"})
        expected[name] = results_of(base / f"alone-{name}"), decisions_of(base / f"alone-{name}")
    network = Network()
    good = True
    try:
        addresses = {n: network.host(n) for n in "c123"}
        print("in namespaces" if network.real else "on loopback: no faults of links", flush=True)
        good = refusals(hydra, base, network, addresses)
        calm = 0
        for number in range(o.first, o.first + o.rounds):
            right, memory = one_round(hydra, base, base / "shim.so", o.seed, number, network, addresses, expected, calm or 1000)
            calm = calm or memory
            good = good and right
            if not right:
                break
    finally:
        network.close()
    if good:
        shutil.rmtree(base, ignore_errors=True)
    else:
        print(f"kept: {base}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
