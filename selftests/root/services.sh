# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests of an instance's services: they run programs that are sleep
# under other names.
folder=/etc/mios/services

# service NAME LINE...: a shell script
service()
{
	mkdir -p $folder
	name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" > $folder/.new
	chmod 755 $folder/.new
	mv $folder/.new "$folder/$name"
}

# where NAME: the instances but 0 on which a program of this name runs
where()
{
	mios ps -c "$1" | awk 'NR > 1 && $1 > 0 { print $1 }' | sort -n | xargs
}

runs_on()
{
	[ "$(where "$1")" = "$2" ]
}

# in_time COMMAND...: what takes instances some seconds.  An idle machine's cost
# nothing, looking does.
in_time()
{
	for _ in $(seq 30); do
		! "$@" 2> /dev/null || return 0
		sleep 3
	done
	return 1
}

# says INSTANCE TEXT: its log has it
says()
{
	in_time eval "mios log $1 | grep -q -e '$2'" || fail "instance $1: no '$2'"
}

for name in testd onlyd stubbornd; do
	cp "$(command -v sleep)" /usr/local/bin/$name
done
