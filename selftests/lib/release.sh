# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by host tests that want compilers of another Debian release, unpacked into
# a folder of the cache; programs run in it, too, beside its libraries.

# release SUITE PACKAGE...: sets $root
release() {
	local suite=$1 cache=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/release

	shift
	[ "$(id -u)" = 0 ] || skip "only root enters another root"
	root=$cache/$suite-$(echo "$*" | md5sum | head -c 12)
	mkdir -p "$cache"
	(
		flock 9
		[ ! -d "$root" ] || exit 0
		echo "unpacking $* of $suite" >&2
		rm -rf "$root.part"
		# A mirror of another day is as good.
		mmdebstrap --quiet --mode=root --variant=extract \
			--format=directory \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--include="libc6-dev,binutils,bash,coreutils,$(echo "$*" | tr ' ' ,)" \
			"$suite" "$root.part" > "$root.log" 2>&1 &&
			ln -sf bash "$root.part/usr/bin/sh" &&
			mv "$root.part" "$root"
	) 9> "$root.lock" ||
		skip "there is no $* of $suite: $(grep -m 1 ^E: "$root.log")"
}

# inside FOLDER COMMAND...: in that root, laid out alike in all processes, with this
# host's devices, and the folder as /tests
inside() {
	# shellcheck disable=SC2016 # its own
	setarch -R unshare -m sh -c 'root=$1 tests=$2
		shift 2
		mkdir -p "$root/dev" "$root/proc" "$root/tests"
		mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
		mount --bind "$tests" "$root/tests" || exit 99
		exec chroot "$root" "$@"' sh "$root" "$@"
}

# carry FOLDER WHERE: what programs of that root load, their loader too, into the
# folder, which will be there in a machine; sets $own, for the compiler, by which they
# take it from there, whatever that machine has.
carry() {
	local name

	mkdir -p "$1"
	for name in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libgcc_s.so.1 \
		libstdc++.so.6 libgomp.so.1 libgfortran.so.5 libquadmath.so.0; do
		cp -L "$root/usr/lib/x86_64-linux-gnu/$name" "$1" ||
			fail "no $name in $root"
	done
	own="-Wl,--dynamic-linker=$2/ld-linux-x86-64.so.2 -Wl,-rpath=$2"
}
