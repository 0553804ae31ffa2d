# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by host tests that want a machine in which there is KVM: an emulated AMD
# processor, with nested paging, under the test kernel, whose KVM is a module, and an
# initrd of busybox, our tools and what the test puts there.

# kvm_kernel: sets $kernel, its tree
kvm_kernel() {
	kernel=$(linux/kernel build test 2> /dev/null | tail -n 1)
	[ -e "$kernel/arch/x86/kvm/kvm-amd.ko" ] || fail "the test kernel has no KVM"
}

# kvm_driver BUILD FOLDER: the driver of virtio devices in memory, which the test kernel
# is built without, out of that kernel's source, built in BUILD, into FOLDER
kvm_driver() {
	mkdir -p "$1"
	cp "$kernel/drivers/virtio/virtio_mmio.c" "$1/"
	echo 'obj-m := virtio_mmio.o' > "$1/Kbuild"
	make -s -C "$kernel" M="$1" modules > "$1/log" 2>&1 ||
		fail "virtio_mmio does not build: $(tail -n 3 "$1/log")"
	cp "$1/virtio_mmio.ko" "$2/"
}

# programs FOLDER FILE...: with the libraries that they need
programs() {
	local folder=$1 file library

	shift
	for file; do
		cp "$file" "$folder/bin/"
		for library in $(ldd "$file" 2> /dev/null |
			grep -o '/[^ ]*'); do
			mkdir -p "$folder${library%/*}"
			cp -L "$library" "$folder$library"
		done
	done
}

# kvm_initrd FOLDER FILE: the folder has /test, which is run and whose status
# is told; with busybox, and KVM's modules
kvm_initrd() {
	local folder=$1

	mkdir -p "$folder"/{bin,proc,sys,dev,tmp,modules}
	cp /bin/busybox "$folder/bin/"
	# In the order in which they must be loaded.
	cp "$kernel"/virt/lib/irqbypass.ko "$kernel"/arch/x86/kvm/kvm{,-amd}.ko \
		"$folder/modules/"
	cat > "$folder/init" << 'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
for module in irqbypass kvm kvm-amd; do
	insmod /modules/$module.ko
done
/test
echo "status $?"
poweroff -f
END
	chmod 755 "$folder/init"
	(cd "$folder" && find . | cpio -o -H newc --quiet | gzip -1) > "$2"
}

# kvm_run SECONDS INITRD: what the machine says, on standard output.  kvm_time=icount:
# its time is instructions, as selftests/vm has it, and its TSC counts ns
kvm_run() {
	local accel="-accel tcg,thread=multi" words=

	if [ "${kvm_time:-}" = icount ]; then
		accel="-accel tcg,thread=single -icount shift=2,sleep=off"
		words="tsc_early_khz=1000000"
	fi
	# shellcheck disable=SC2086
	timeout "$1" qemu-system-x86_64 -machine q35 $accel \
		-cpu max,+svm,+npt -smp 2 -m 1536 -nodefaults -display none -no-reboot \
		-kernel "$kernel/arch/x86/boot/bzImage" -initrd "$2" \
		-append "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check norandmaps $words" \
		-serial stdio < /dev/null | sed -u 's/\r//g'
}
