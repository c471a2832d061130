#!/usr/bin/env python3
"""Runs apps/cluster/slurm on a Slurm of three nodes, all on this machine, and compares the results with those of one machine,
bit for bit.

    tests/deep/slurm_job.py build/release/bin/hydra [--all] [--folder KEPT]

A node dies while it trains. With --all also: the time limit strikes, and the job is submitted again with --resume on fewer
nodes; a slurmd does not answer; the step of the other nodes is cancelled; the first node dies, and the job is submitted again.
Needs root and Debian's packages munge and slurm-wlm; elsewhere it is skipped (exit status 77).

Each slurmd has a namespace of processes of its own, so that a node dies with all that runs there. One line for each job; exit
status 1 with the first difference or hang, whose folder is kept."""
import argparse, json, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, time

PATIENCE_S = 240
SKIPPED = 77
INSIDE = "HYDRA_SLURM_JOB"
NAMESPACES = ["--mount", "--uts", "--net", "--pid", "--fork", "--mount-proc"]
PORT = 16817
JOB = pathlib.Path(__file__).resolve().parents[2] / "apps/cluster/slurm"
WORKLOAD = """
[run]
seed = 3
checkpoint = { every_steps = 20 }

[[device]]
kind = "cpu"
memory = "1MiB"
speed = 0.05

[data.classes]
kind = "synthetic-classes"
features = 64
classes = 4

[[model]]
name = "m{seed}"
chain = { family = "mlp", layers = 4, width = 64 }
data = "classes"
batch_size = 64
micro_batches = 2
steps = 200
optimizer = { learning_rate = 1e-3 }
grid = { seed = [1, 2, 3, 4, 5, 6] }
"""
CONFIGURATION = """
ClusterName=test
SlurmctldHost=head(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={0}/munge.sock
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/spool-%n
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/slurmd-%n.pid
SlurmctldPort={1}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
MailProg=/bin/true
NodeName=n[1-3] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{2}-{3}] CPUs=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why it cannot run here, in words."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ("munged", "slurmctld", "slurmd", "sbatch", "unshare", "ip"):
        if not shutil.which(program):
            return f"there is no {program}; install munge, slurm-wlm and iproute2"
    trial = subprocess.run(["unshare", *NAMESPACES, "true"], stderr=subprocess.DEVNULL)
    return "" if trial.returncode == 0 else "may not make namespaces"


class Slurm:
    def __init__(self, folder):
        self.folder, self.nodes = folder, {}
        (folder / "state").mkdir()
        (folder / "hosts").write_text("127.0.0.1 localhost head n1 n2 n3\n")
        subprocess.run(["mount", "--bind", folder / "hosts", "/etc/hosts"], check=True)
        for command in (["link", "set", "lo", "up"], ["addr", "add", "10.78.0.1/32", "dev", "lo"]):
            subprocess.run(["ip", *command], check=True)  # names are resolved only where there is an address but 127.0.0.1
        socket.sethostname("head")
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder, PORT, PORT + 1, PORT + 3))
        self.start("munged", f"--key-file={key}", f"--socket={folder}/munge.sock", f"--pid-file={folder}/munged.pid",
                   f"--seed-file={folder}/munge.seed", f"--log-file={folder}/munged.log", "--foreground", "--force")
        self.start("slurmctld", "-D")
        for n in ("n1", "n2", "n3"):
            self.start_node(n)
        subprocess.run(["srun", "--quiet", "--nodes=3", "true"], check=True, timeout=PATIENCE_S)  # waits until they are there

    def start(self, program, *options):
        with open(self.folder / f"{program}.out", "ab") as log:
            return subprocess.Popen([program, *options], stdout=log, stderr=log)

    def start_node(self, n):
        self.nodes[n] = self.start("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "slurmd", "-D", "-N", n)

    def kill_node(self, n):
        self.nodes[n].kill()
        self.nodes[n].wait()

    def signal_slurmd(self, n, number):
        """It is the first process of the namespace that unshare has made."""
        pid = self.nodes[n].pid
        os.kill(int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]), number)


class Job:
    """Submitted; `output` has what it prints."""

    def __init__(self, folder, name, nodes, *arguments, limit="10", script=JOB):
        self.folder, self.name, self.output = folder, name, folder / f"{name}.txt"
        self.sbatch = subprocess.Popen(["sbatch", "--wait", "--quiet", f"--nodes={nodes}", f"--time={limit}", "--job-name", name,
                                        "-o", self.output, script, "w.toml", *arguments], cwd=folder)

    def text(self):
        return self.output.read_text() if self.output.exists() else ""

    def wait_for(self, words):
        until = time.monotonic() + PATIENCE_S
        while words not in self.text():
            if time.monotonic() > until or self.sbatch.poll() is not None:
                raise RuntimeError(f"{self.name} does not say '{words}'")
            time.sleep(0.1)

    def end(self):
        """Its exit status."""
        return self.sbatch.wait(PATIENCE_S)


def results_of(folder):
    return {m["name"]: (m["status"], m["steps"], m["digest"]) for m in json.loads((folder / "report.json").read_text())["models"]}


class Trial:
    def __init__(self, hydra, folder):
        self.hydra, self.folder = hydra, folder
        (folder / "w.toml").write_text(WORKLOAD)
        os.environ |= {"HYDRA": str(hydra), "OMP_NUM_THREADS": "1"}
        self.quietly("cluster", "keys", "keys")
        self.quietly("train", "w.toml", "--output", "alone", "--set", "device.count=3")
        self.expected = results_of(folder / "alone")
        self.slurm = Slurm(folder / "slurm")

    def quietly(self, *arguments):
        with open(self.folder / "alone.txt", "ab") as log:
            subprocess.run([self.hydra, *arguments], cwd=self.folder, check=True, stdout=log, stderr=log)

    def judge(self, what, job, run, status=0):
        ended = job.end()
        if ended != status:
            raise RuntimeError(f"{what}: {job.name} has ended with {ended}, expected {status}")
        if status == 0 and results_of(self.folder / run) != self.expected:
            raise RuntimeError(f"{what}: {run} has other results than one machine")
        print(f"{what}: {'the same bits' if status == 0 else 'saved'}", flush=True)

    def node_dies(self):
        job = Job(self.folder, "node", 3, "--output", "node")
        job.wait_for(" 20 %")
        self.slurm.kill_node("n3")
        self.judge("a node dies", job, "node")
        self.slurm.start_node("n3")

    def first_node_dies(self):
        """With the coordinator."""
        job = Job(self.folder, "first", 3, "--output", "first")
        job.wait_for(" 20 %")
        self.slurm.kill_node("n1")
        subprocess.run(["scancel", "--name", "first"], check=True)
        job.end()
        self.slurm.start_node("n1")
        again = Job(self.folder, "second", 3, "--output", "first", "--resume")
        again.wait_for(", from step")
        self.judge("the first node dies, the job is submitted again", again, "first")

    def slurmd_freezes(self):
        job = Job(self.folder, "slurmd", 3, "--output", "slurmd")
        job.wait_for(" 20 %")
        self.slurm.signal_slurmd("n2", signal.SIGSTOP)
        self.judge("a slurmd does not answer", job, "slurmd")
        self.slurm.signal_slurmd("n2", signal.SIGCONT)

    def step_is_cancelled(self):
        job = Job(self.folder, "step", 3, "--output", "step")
        job.wait_for(" 20 %")
        number = subprocess.check_output(["squeue", "-h", "--name", "step", "-o", "%i"], text=True).strip()
        subprocess.run(["scancel", f"{number}.0"], check=True)
        self.judge("the step of the nodes is cancelled", job, "step")

    def time_limit_strikes(self):
        script = self.folder / "soon"
        script.write_text(JOB.read_text().replace("TERM@120", "TERM@52"))
        job = Job(self.folder, "limit", 3, "--output", "limit", "--set", "device.speed=0.01", limit="1", script=script)
        self.judge("the time limit strikes", job, "limit", status=130)
        self.judge("it is submitted again, on two nodes", Job(self.folder, "again", 2, "--output", "limit", "--resume"), "limit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hydra", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--all", action="store_true", help="all that may happen to a job")
    parser.add_argument("--folder", type=pathlib.Path, help="kept; must not exist")
    options = parser.parse_args()
    if why := missing():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    if INSIDE not in os.environ:  # begin again where /etc/hosts, the machine's name and its ports are its own, and all ends with it
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", *NAMESPACES, "--kill-child", sys.executable, *sys.argv])
    folder = (options.folder or pathlib.Path(tempfile.mkdtemp(prefix="hydra-slurm-"))).resolve()
    (folder / "slurm").mkdir(parents=True)
    try:
        trial = Trial(options.hydra, folder)
        trial.node_dies()
        if options.all:
            trial.time_limit_strikes()
            trial.slurmd_freezes()
            trial.step_is_cancelled()
            trial.first_node_dies()
    except (RuntimeError, OSError, subprocess.SubprocessError) as e:
        print(f"{e}\nkept: {folder}")
        sys.exit(1)
    if not options.folder:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
