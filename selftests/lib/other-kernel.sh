# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by host tests that bring another kernel build into a machine, with
# --copy: the one named next, which nobody boots there otherwise.  Set $top
# first, and source test.sh.

# other_kernel DIR: its image as DIR/bzImage, its modules and ours in
# DIR/lib/modules, as "make modules_install" leaves them; prints its release.
# What is wrong it says on stderr.
other_kernel()
{
	local tree release modules

	tree=$("$top/linux/kernel" path next 2> /dev/null) ||
		fail "the kernel 'next' has not been built" >&2
	"$top/linux/kernel" modules next "$top/build/modules-next" \
		> "$1/log" 2>&1 || { tail -n 5 "$1/log" >&2; return 1; }
	release=$(cat "$tree/include/config/kernel.release")
	modules=$1/lib/modules/$release
	mkdir -p "$modules/extra"
	find "$top/build/modules-next" -name '*.ko' \
		-exec cp {} "$modules/extra" \;
	cp "$tree/modules.builtin" "$tree/modules.builtin.modinfo" "$modules"
	: > "$modules/modules.order"
	/sbin/depmod -b "$1" "$release" || return 1
	cp "$tree/arch/x86/boot/bzImage" "$1/bzImage" || return 1
	echo "$release"
}
