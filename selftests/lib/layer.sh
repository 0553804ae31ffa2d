# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by host tests that bring Debian packages into a machine that its root
# file system does not have: no other test pays for these.

# layer FOLDER PACKAGE...: what is in the packages, without documentation, tests and
# what is only compiled with, in the folder; downloaded when first asked for, and
# kept in the cache by name and version.  Their dependencies are to be named, too,
# but for those that the root file system has.  LAYER_HEADERS=yes: with what C
# programs are compiled with.
layer()
{
	local cache=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/layer
	local folder=$1 with

	shift
	with=$(apt-cache show --no-all-versions "$@" 2> /dev/null |
		grep -E '^(Package|Version|SHA256):' | md5sum |
		head -c 12)${LAYER_HEADERS:+-headers}
	cache=$cache/$with
	mkdir -p "$cache"
	(
		set -e
		flock 9
		[ ! -e "$cache/done" ] || exit 0
		echo "downloading $*" >&2
		cd "$cache"
		rm -rf root ./*.deb
		apt-get -qq download "$@" > log 2>&1
		for deb in ./*.deb; do
			dpkg-deb -x "$deb" root
		done
		rm -rf root/usr/share ./*.deb
		find root -type d -name tests -prune -exec rm -rf {} +
		find root '(' -name '*.pyi' -o -name '*.pxd' ')' -exec rm {} +
		[ -n "${LAYER_HEADERS-}" ] || find root -name '*.h' -exec rm {} +
		touch "done"
	) 9> "$cache/lock" ||
		skip "apt has not all of $*: $(tail -n 1 "$cache/log")"
	cp -a "$cache/root/." "$folder"
}
