"""The image, built without an engine and without root's help inside, and its processes run on a read-only root.

The base is a minimal Debian made here, handed to the Dockerfile by its build argument; an index of packages and
certificates are those that pip uses on this machine. Needs root, buildah and mmdebstrap.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from streams.services import free_port
from tests.docs_printed import ROOT
from tests.live.fleet import environment_of, settings_for
from tests.live.test_always_on import until_ready

pytestmark = pytest.mark.prove

BASE = "localhost/base:1.0.0"
IMAGE = "localhost/lara:0.1.0"
LARA = "/opt/lara/bin/lara"
PACKAGES = "python3,python3-venv,python-is-python3"
# The root as Kubernetes and compose give it: not to be written, with a small /tmp.
READ_ONLY = """
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
mount -t tmpfs -o size=16m,mode=1777 tmpfs "$1/tmp"
mount --bind /dev "$1/dev"
root="$1"
shift
exec chroot --userspec=10001:10001 "$root" "$@"
"""


class Image:
    """What buildah keeps of it, in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._places = ["--storage-driver", "vfs", "--root", str(directory / "root")]
        self._places += ["--runroot", str(directory / "run")]

    def buildah(self, *arguments: str | Path) -> str:
        environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
        command = ["buildah", *self._places, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    def make_base(self) -> None:
        archive = self.directory / "base.tar"
        options = ["--quiet", "--variant=minbase", f"--include={PACKAGES}"]
        subprocess.run(["mmdebstrap", *options, "bookworm", str(archive)], check=True, capture_output=True)
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, archive, "/")
        self.buildah("commit", "--quiet", "--rm", container, BASE)

    def build(self) -> None:
        options = ["--layers=false", "--pull-never", "--build-arg", f"BASE={BASE}"]
        options += ["--secret", f"id=pip.conf,src={pip_configuration(self.directory)}"]
        options += ["--volume", "/etc/ssl/certs:/etc/ssl/certs:ro"]
        self.buildah("bud", *options, "-f", "deploy/Dockerfile", "-t", IMAGE, ".")

    def start(self) -> None:
        """A container of it, mounted where `popen` finds it."""
        self.container = self.buildah("from", "--pull-never", IMAGE)
        self.mount = self.buildah("mount", self.container)

    def run(self, *command: str) -> str:
        """A command as the image says: its user, its environment."""
        return self.buildah("run", self.container, "--", *command)

    def popen(self, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
        """A program of the image on a read-only root."""
        place = ["unshare", "--mount", "sh", "-euc", READ_ONLY, "sh", self.mount]
        return subprocess.Popen(
            [*place, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )


def pip_configuration(directory: Path) -> Path:
    """How pip reaches its index here."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    found = ConfigParser(interpolation=None)
    found["global"] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2]
        if option in ("index-url", "extra-index-url", "cert", "trusted-host", "proxy"):
            found["global"][option] = value.strip("'")
    file = directory / "pip.conf"
    with file.open("w") as out:
        found.write(out)
    return file


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Iterator[Image]:
    found = Image(tmp_path_factory.mktemp("image"))
    found.make_base()
    found.build()
    found.start()
    yield found
    found.buildah("rm", "--all")
    shutil.rmtree(found.directory)


def test_it_runs_as_nobody_and_holds_no_tools(image):
    """By its own configuration: user, entry point and ports; pip is gone, and help is there."""
    configuration = json.loads(image.buildah("inspect", "--type=image", IMAGE))["OCIv1"]["config"]
    assert configuration["User"] == "10001:10001"
    assert configuration["Entrypoint"] == ["lara"]
    assert set(configuration["ExposedPorts"]) == {"9101/tcp", "9102/tcp", "9103/tcp"}
    assert image.run("python", "-c", "import os; print(os.getuid(), os.getgid())") == "10001 10001"
    assert "canary" in image.run("lara", "--help")
    assert image.run("sh", "-c", "python -m pip --version 2>&1 || true").endswith("No module named pip")


def test_it_may_write_nothing_of_the_image(image):
    """Only what Debian lets everybody write; lara itself is root's."""
    looked = "find / -xdev -writable ! -type l ! -path '/proc/*' ! -path '/sys/*' ! -path '/dev/*' 2>/dev/null || true"
    found = set(image.run("sh", "-c", looked).splitlines())
    assert "/tmp" in found
    assert found <= {"/tmp", "/var/tmp", "/run/lock"}


async def test_its_processes_work_on_a_read_only_root(image, bootstrap, redis_url, prefix):
    """Topics, a worker, a canary that comes back, the doctor; then the worker stops as asked."""
    own = settings_for(bootstrap, redis_url, prefix)
    port = free_port()
    environment = {**environment_of(own), "LARA_WORKER_PORT": str(port)}
    topics = image.popen(environment, LARA, "topics", "create")
    assert "created" in topics.communicate(timeout=60)[0] and topics.returncode == 0
    worker = image.popen(environment, LARA, "worker")
    try:
        await until_ready(port)
        canary = image.popen(environment, LARA, "canary", "--once")
        assert canary.communicate(timeout=60)[0].startswith("came back after")
        doctor = image.popen(environment, LARA, "doctor", "--json")
        findings = json.loads(doctor.communicate(timeout=60)[0])["findings"]
        assert not {one["name"] for one in findings} & {"kafka_out_of_reach", "redis_out_of_reach"}
    finally:
        worker.terminate()
    assert worker.wait(timeout=20) == 0
    assert "Read-only file system" not in worker.stdout.read()
    touching = image.popen(environment, "/usr/bin/touch", "/var/tmp/x")
    assert "Read-only file system" in touching.communicate(timeout=60)[0], "it was not read-only"
