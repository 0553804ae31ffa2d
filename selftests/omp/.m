. "$(dirname "$0")/lib.sh"
cd /tmp/gmx
for m in 1,1 1,2; do time team $m gmx mdrun -s t.tpr -ntmpi 1 -ntomp $((${m//,/+})) -pin off -deffnm t > team.log 2>&1; echo st $?; tail -5 team.log; done
