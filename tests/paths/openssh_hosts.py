# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that ssh reaches, on this machine: for each name one of Debian's openssh-server, all of them and their clients in a network
namespace of their own, each under a host name of its own. Keys and configuration are in a folder; nothing is read of the user's."""
import os
import shutil
import subprocess
import time

SSHD = "/usr/sbin/sshd"
SEPARATION = "/run/sshd"  # where sshd wants to be able to lock itself up
FIRST_PORT = 2200
START_MOST_S = 20


def is_installed():
    return os.path.exists(SSHD) and shutil.which("ssh") and shutil.which("ssh-keygen")


class Hosts:
    def __init__(self, folder, namespace, names):
        self.folder, self.namespace, self.names = folder, namespace, names
        self.daemons, self.has_made_separation = [], False
        self.command = f"ip netns exec {namespace} ssh -F {folder}/ssh_config"

    def run(self, *command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def start(self):
        self.run("ip", "netns", "add", self.namespace)
        self.run("ip", "-n", self.namespace, "link", "set", "lo", "up")
        if not os.path.isdir(SEPARATION):
            os.mkdir(SEPARATION, 0o755)
            self.has_made_separation = True
        for key in "key", "host_key":
            self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.folder}/{key}")
        config = "BatchMode yes\nConnectTimeout 15\nUser root\nStrictHostKeyChecking accept-new\nIdentitiesOnly yes\n" \
                 f"IdentityFile {self.folder}/key\nUserKnownHostsFile {self.folder}/known_hosts\n"
        with open(self.folder + "/ssh_config", "w") as f:
            f.write("".join(f"Host {name}\nHostName 127.0.0.1\nPort {FIRST_PORT + i}\n" for i, name in enumerate(self.names)) + "Host *\n" + config)
        for i, name in enumerate(self.names):
            with open(f"{self.folder}/sshd_{name}", "w") as f:
                f.write(f"Port {FIRST_PORT + i}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host_key\nPidFile none\nUsePAM no\nStrictModes no\n"
                        f"AuthorizedKeysFile {self.folder}/key.pub\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n")
            with open(f"{self.folder}/sshd_{name}.log", "w") as log:
                self.daemons.append(subprocess.Popen(
                    ["ip", "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c", 'hostname "$1"; exec "$2" -D -e -f "$3"', "sh", name,
                     SSHD, f"{self.folder}/sshd_{name}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        until = time.monotonic() + START_MOST_S
        for name in self.names:
            while subprocess.run(self.command.split() + [name, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
                if time.monotonic() > until:
                    raise SystemExit(f"sshd does not answer: {open(f'{self.folder}/sshd_{name}.log').read()}")
                time.sleep(0.1)

    def stop(self):
        for daemon in self.daemons:
            daemon.terminate()
            daemon.wait()
        subprocess.run(["ip", "netns", "del", self.namespace], stderr=subprocess.DEVNULL)
        if self.has_made_separation:
            os.rmdir(SEPARATION)
