# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Instances that take each other for other machines: after instances.sh and lib.sh.
# Instance N is machine N, at 10.80.N.1 + N, an address beside its own.
KEY=$(printf '%064d' 1)
OTHER_KEY=$(printf '%064d' 2)

# machines_file KEY
machines_file()
{
	printf 'key %s\n1 10.80.1.1\n2 10.80.2.1\n' "$1"
}

# machine N: instance N has that address, a device for verbs, and the file
machine()
{
	local key

	on "$1" "ip address add 10.80.$1.$(($1 + 1))/16 dev mios0" || fail "no address on $1"
	on "$1" "modprobe -a siw rdma_ucm && rdma link add siw0 type siw netdev mios0" ||
		fail "no siw on $1"
	for key in "$KEY" "$OTHER_KEY"; do
		on "$1" "umask 077; cat > /run/machines-$key" <<-END
		$(machines_file "$key")
		END
	done
}

# with_key INSTANCE KEY COMMAND...
with_key()
{
	local where=$1 key=$2

	shift 2
	mios exec "$where" -- sh -c "exec env GLEX_MACHINES=/run/machines-$key $*"
}

# As on() of instances.sh; programs of libglex know of the machines.
on()
{
	local where=$1

	shift
	mios exec "$where" -- sh -c "export GLEX_MACHINES=/run/machines-$KEY; $*"
}
