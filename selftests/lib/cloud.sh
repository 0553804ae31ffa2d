# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by host tests that want a machine in which there is KVM: an emulated AMD
# processor, with nested paging, under Debian's own kernel for machines in a cloud,
# and an initrd of busybox, our tools and what the test puts there.

PATH=$PATH:/usr/sbin:/sbin
cloud=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/cloud

# cloud_kernel: the newest that apt has, unpacked in the cache; sets $kernel, $release
cloud_kernel() {
	local package

	package=$(apt-cache depends linux-image-cloud-amd64 2>&1 |
		sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p' | head -n 1)
	[ -n "$package" ] || skip "apt has no kernel for machines in a cloud"
	kernel=$cloud/$package
	release=${package#linux-image-}
	mkdir -p "$cloud"
	(
		flock 9
		[ ! -d "$kernel" ] || exit 0
		echo "unpacking $package" >&2
		rm -rf "$kernel.part" && mkdir "$kernel.part" &&
			cd "$kernel.part" &&
			apt-get -q -q download "$package" &&
			dpkg-deb -x ./*.deb . && rm ./*.deb &&
			depmod -b . "$release" && mv "$kernel.part" "$kernel"
	) 9> "$cloud/lock" || skip "apt does not give $package"
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

# cloud_initrd FOLDER FILE: the folder has /test, which is run and whose status
# is told; with busybox, and the modules that KVM wants
cloud_initrd() {
	local folder=$1 module

	mkdir -p "$folder"/{bin,proc,sys,dev,tmp,modules}
	cp /bin/busybox "$folder/bin/"
	# depmod's list has them in the order in which they must be loaded.
	modprobe -d "$kernel" -S "$release" --show-depends kvm_amd |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' > "$folder/modules/order"
	while read -r module; do
		cp "$module" "$folder/modules/"
	done < "$folder/modules/order"
	sed -i 's/.*\///' "$folder/modules/order"
	cat > "$folder/init" << 'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
for module in $(cat /modules/order); do
	insmod /modules/$module
done
/test
echo "status $?"
poweroff -f
END
	chmod 755 "$folder/init"
	(cd "$folder" && find . | cpio -o -H newc --quiet | gzip -1) > "$2"
}

# cloud_run SECONDS INITRD: what the machine says, on standard output
cloud_run() {
	timeout "$1" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi \
		-cpu max,+svm,+npt -smp 2 -m 1536 -nodefaults -display none -no-reboot \
		-kernel "$kernel"/boot/vmlinuz-* -initrd "$2" \
		-append "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check norandmaps" \
		-serial stdio < /dev/null | sed -u 's/\r//g'
}
