# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by host tests that build programs which Debian has, but not as they need
# them: no other test pays for these.

CACHE=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/upstream

# kept NAME FILE...: the folder in the cache that depends on what the files hold;
# NAME begins with the package's
kept()
{
	local name=$1 version

	shift
	version=$(apt-cache show --no-all-versions "${name%%-*}" 2> /dev/null |
		grep ^Version:)
	echo "$CACHE/$name-$( (echo "$version"; cat "$@") | md5sum | head -c 12)"
}

# apt_source OPTION...: of the distribution that this host is
apt_source()
{
	apt-get -qq -o Dir::Etc::sourcelist="$PWD/list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$PWD/lists" "$@" >> log 2>&1
}

# upstream PACKAGE FOLDER PATTERN...: its source, without Debian's changes, as far
# as the names match; downloaded when first asked for
upstream()
{
	local name=$1 folder=$2 cache

	shift 2
	cache=$(kept "$name" /dev/null)
	mkdir -p "$cache"
	(
		set -e
		flock 9
		cd "$cache"
		[ ! -e "done" ] || exit 0
		echo "downloading the source of $name" >&2
		rm -rf lists log
		mkdir -p lists/partial
		apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CREATED_BY) $(REPO_URI) $(RELEASE)' |
			awk '$1 == "Debian" && $2 == "main" && $3 == "Packages" {
				print "deb-src", $4, $5, "main" }' |
			sort -u > list
		apt_source update
		apt_source --download-only --tar-only source "$name"
		rm -rf lists
		touch "done"
	) 9> "$cache/lock" ||
		skip "apt has no source of $name: $(tail -n 1 "$cache/log")"
	mkdir -p "$folder"
	tar -C "$folder" --strip-components 1 -xf "$cache"/*.orig.tar.* \
		--wildcards "$@" || fail "the source of $name"
}
