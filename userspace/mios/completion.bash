# SPDX-License-Identifier: GPL-2.0
# bash completion for mios(1): commands, options, and instances from sysfs.

_mios_instances()
{
	local dir state
	for dir in /sys/kernel/mios/instance*; do
		[[ -r $dir/state ]] || continue
		read -r state < "$dir/state"
		[[ " $* " == *" $state "* ]] && echo "${dir##*instance}"
	done
}

_mios()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local commands="status boot stop restart wait kill log journal dump console set check reserve exec run pool numastat numactl shm lend give take ps trace stat slurm-conf top help"
	local words=

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help" -- "$cur")
		return
	fi
	case $prev in
	-k|--kernel|-i|--initrd)
		compopt -o default
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	help) words="$commands" ;;
	boot)
		words="--kernel= --initrd= --append= --init= --root= --reuse-cmdline --ring=
			--timeout= --no-wait --cpus= --memory= --again --configured --dry-run --quiet --json all
			$(_mios_instances down)"
		;;
	stop|kill|restart)
		words="--timeout= --quiet --json all $(_mios_instances claimed booting up \
			stopping fencing dead held)"
		;;
	status)
		words="--json --watch --metrics --shared $(_mios_instances down claimed booting \
			up stopping fencing dead held)"
		;;
	stat) words="--events --watch --json" ;;
	wait)
		words="--timeout= up down all $(_mios_instances down claimed \
			booting up stopping fencing dead held)"
		;;
	log)
		words="--lines= --since= --follow all $(_mios_instances down \
			booting up stopping fencing dead held)"
		;;
	journal)
		words="--lines= --since= --follow --json all $(_mios_instances down \
			booting up stopping fencing dead held)"
		;;
	dump)
		words="--elf --discard $(_mios_instances held)"
		((COMP_CWORD == 2)) || compopt -o default
		;;
	console) words="--linger= $(_mios_instances booting up stopping)" ;;
	check) words="--try --json" ;;
	pool) words="--users --json" ;;
	numactl)
		words="--localalloc --membind= --interleave= --preferred=
			--file= --touch"
		compopt -o default
		;;
	numastat)
		words="--json"
		compopt -o default
		;;
	shm) words="--json --sweep" ;;
	give) words="--json $(_mios_instances up)" ;;
	take) words="--force --check" ;;
	lend) words="--size= --off $(_mios_instances up)" ;;
	reserve) words="--split= --threads --nodes= --pool= --grub" ;;
	set)
		words="--apply $(mios set 2> /dev/null |
			sed -n 's/^\([a-z_.-]*\) .*/\1=/p')"
		;;
	exec)
		words="--tty --no-tty --no-input --detach $(_mios_instances up)"
		compopt -o default
		;;
	run)
		words="--tasks= --cpus-per-task= --per-instance= --on= --ring=
			--bind= --oversubscribe --label --explain --no-input --mpi --omp
			--share= --teams= --localalloc --membind= --interleave= --preferred="
		[[ $prev != -o && $prev != --on ]] ||
			words=$(_mios_instances up)
		compopt -o default
		;;
	trace) words="--event= --instances= --time= --buffer= --stop --json" ;;
	ps) words="--all --kernel --user= --command= --instances= --signal= --json" ;;
	slurm-conf) words="--cgroup --topology" ;;
	top) words="--once --json --delay=" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words --help" -- "$cur")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}

complete -F _mios mios
