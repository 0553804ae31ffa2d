#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Water for GROMACS, in this folder: N^3 molecules on a lattice, their force field,
# and what is to be computed.
#   water.sh N
awk -v n="$1" 'BEGIN {
	print "water"; printf "%5d\n", 3 * n ^ 3
	for (i = 0; i < n ^ 3; i++) {
		x = (i % n + .3) * .31; y = (int(i / n) % n + .3) * .31
		z = (int(i / n ^ 2) + .3) * .31
		atom("OW", x, y, z)
		atom("HW1", x + .1, y, z)
		atom("HW2", x - .0333, y + .0943, z)
	}
	printf "%10.5f%10.5f%10.5f\n", n * .31, n * .31, n * .31
}
function atom(name, x, y, z) {
	printf "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", i + 1, "SOL", name, ++atoms, x, y, z
}' > conf.gro
cat > topol.top <<END
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
OW 8 15.9994 -0.82 A 0.316557 0.650194
HW 1 1.008 0.41 A 0 0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 -0.82
2 HW 1 SOL HW1 1 0.41
3 HW 1 SOL HW2 1 0.41
[ settles ]
1 1 0.1 0.1633
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
water
[ molecules ]
SOL $(($1 * $1 * $1))
END
cat > grompp.mdp <<END
integrator = md
nsteps = 20
dt = 0.001
nstlog = 10
nstenergy = 10
nstlist = 10
coulombtype = PME
verlet-buffer-tolerance = -1
rlist = 0.85
rcoulomb = 0.8
rvdw = 0.8
gen_vel = yes
gen_temp = 300
gen_seed = 1
END
echo "SOL Water" > residuetypes.dat
