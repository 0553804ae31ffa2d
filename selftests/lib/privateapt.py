# SPDX-License-Identifier: GPL-2.0
"""apt with sources, lists and state of its own: nothing of this host's apt is
changed, and what comes is signed by Debian.

selftests/lib/debs and linux/kernel_source.py call this.
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def command(folder, lines, status=b""):
    """How apt-get is called; status: what dpkg has installed there."""
    for name in ("lists/partial", "archives/partial", "none"):
        (folder / name).mkdir(parents=True)
    (folder / "status").write_bytes(status)
    (folder / "sources").write_text("".join(
        line.replace("deb ", f"deb [signed-by={KEYRING}] ", 1) + "\n"
        for line in lines), encoding="ascii")
    words = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root",
             "-o", "APT::Update::Error-Mode=any"]
    for name, where in {"State::lists": "lists", "State::status": "status",
                        "Cache::archives": "archives", "Etc::sourcelist": "sources",
                        "Etc::sourceparts": "none", "Etc::preferencesparts": "none",
                        "Cache::pkgcache": "", "Cache::srcpkgcache": ""}.items():
        words += ["-o", f"Dir::{name}={folder / where if where else ''}"]
    return words
