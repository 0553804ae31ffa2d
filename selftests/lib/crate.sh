# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by host tests that bring a program from crates.io into a machine.

# crate NAME VERSION FOLDER: the program of that name, in the folder; built when
# first asked for, with the dependencies that its author has locked, and kept in
# the cache by what it is made from and with.
crate()
{
	local cache=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/crate
	local with

	with=$(rustc --version --verbose 2> /dev/null | md5sum | head -c 12)
	cargo --version > /dev/null 2>&1 ||
		skip "no cargo on this host: $1 is a program in Rust"
	cache=$cache/$1-$2-$with
	mkdir -p "$cache"
	(
		flock 9
		[ ! -e "$cache/bin/$1" ] || exit 0
		echo "building $1 $2" >&2
		cargo install "$1" --version "$2" --locked --root "$cache" \
			> "$cache/log" 2>&1
	) 9> "$cache/lock" ||
		fail "crates.io gives no $1 $2: $(grep -m 1 '^error' "$cache/log")"
	cp "$cache/bin/$1" "$3"
}
