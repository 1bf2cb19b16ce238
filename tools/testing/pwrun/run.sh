#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: how pwrun reaches the hosts of a lab, with the launchers of Open MPI and MPICH: by
# ssh, by another command, and by steps of a job of SLURM. All programs that it calls stand in. Then
# SLURM itself, with two nodes in a network namespace, if scripts/pkg/slurm-root has unpacked it.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
tmp=$(mktemp -d) || exit 1
daemons=()
# shellcheck disable=SC2317 # reached through the trap
cleanup() {
	[ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
	wait
	rm -rf "$tmp"
}
trap cleanup EXIT
mkdir "$tmp/bin"

# stand_in NAME: a program, from standard input
stand_in() {
	{ echo '#!/bin/bash'; cat; } >"$tmp/bin/$1"
	chmod 755 "$tmp/bin/$1"
}
# two stations, of which this host has none
stand_in pwctl <<'END'
case $2 in
show)
	echo "station a: lab nolab san 1 addr 00:01:01 host left"
	echo "station b: lab nolab san 2 addr 00:02:01 host right"
	;;
exec) shift 3; exec "$@" ;;
esac
END
# starts a daemon at each station, as both launchers do; is there anything of SLURM?
stand_in mpirun <<'END'
[ "${1:-}" != --version ] || { echo "$VERSION"; exit; }
env | grep -E '^(SLURM|PMI)' | grep -v '^SLURM_CONF=' >>"$LOG"
while [ $# -gt 0 ]; do
	case $1 in
	plm_rsh_agent|-launcher-exec) agent=$2 ;;
	-H|-hosts) list=$2 ;;
	esac
	shift
done
for h in ${list//,/ }; do
	$agent "${h%:*}" daemon "of ${h%:*}"
done
END
stand_in nsenter <<'END'
shift 5
exec "$@"
END
for c in ssh srun other; do
	stand_in $c <<'END'
printf '%s' "${SLURM_CONF:+of $SLURM_CONF: }${0##*/}" >>"$LOG"
printf ' [%s]' "$@" >>"$LOG"
echo >>"$LOG"
END
done

# called NAME=VALUE...: what pwrun called to reach the hosts
called() {
	: >"$tmp/log"
	env PATH="$tmp/bin:$PATH" LOG="$tmp/log" "$@" "$top/tools/mpi/pwrun" true
	cat "$tmp/log"
}
# want WORDS-BEFORE WORDS-BEHIND
want() {
	local s

	for s in a:left b:right; do
		echo "$1[${s#*:}]$2 [pwctl lab exec nolab/${s%:*} sh -c $(printf '%q' "daemon of ${s%:*}")]"
	done
}
for version in "mpirun (Open MPI) 4.1.4" "HYDRA build details:"; do
	mpi=${version%% *}
	tap_is "$mpi: ssh" "$(called VERSION="$version")" "$(want "ssh " "")"
	tap_is "$mpi: another command" "$(called VERSION="$version" PWRUN_RSH=other)" "$(want "other " "")"
	tap_is "$mpi: a step of the job, and mpirun sees no job" \
		"$(called VERSION="$version" SLURM_JOB_ID=7 SLURM_NODELIST=left,right SLURMD_NODENAME=left PMIX_RANK=0 PMI_RANK=0)" \
		"$(want "srun [--jobid=7] [--overlap] [-N] [1] [-n] [1] [-w] " " [sh] [-c]")"
	tap_is "$mpi: a step of a job of another cluster" \
		"$(called VERSION="$version" SLURM_JOB_ID=7 SLURM_CONF=/run/other.conf)" \
		"$(want "of /run/other.conf: srun [--jobid=7] [--overlap] [-N] [1] [-n] [1] [-w] " " [sh] [-c]")"
	tap_is "$mpi: another command in a job" "$(called VERSION="$version" SLURM_JOB_ID=7 PWRUN_RSH=other)" \
		"$(want "other " "")"
done
# refused VERSION: what pwrun says
refused() { env PATH="$tmp/bin:$PATH" LOG="$tmp/log" VERSION="$1" "$top/tools/mpi/pwrun" --virtual true 2>&1; }
tap_is "MPICH has no virtual time" "$(refused "HYDRA build details:")" \
	"pwrun: --virtual wants Open MPI: MPICH has no messages but by TCP"
tap_is "other hosts have no virtual time" "$(refused "mpirun (Open MPI) 4.1.4")" \
	"pwrun: --virtual: all stations must be of this host, which has one clock"

# as in the job's network namespace: links with the addresses of both nodes, since SLURM asks for
# names only where there is more than the loopback device
slurm=$("$top/scripts/pkg/slurm-root" --look 2>/dev/null)
# shellcheck disable=SC2016 # for the shell there
links='ip link set lo up; ip link add d0 type veth peer name d1 || exit 1
	for a in 1 2; do ip addr add 10.78.0.$a/24 dev d0; done; ip link set d0 up; ip link set d1 up'
if [ -z "$slurm" ] || [ "$(id -u)" != 0 ] || ! unshare -nu sh -c "$links" 2>/dev/null; then
	tap_skip "SLURM itself" "it was not unpacked (scripts/pkg/slurm-root), or no network namespace can be had"
	tap_done
	exit
fi
stand_in daemon <<'END'
echo "$* at ${SLURMD_NODENAME:-no node}" >>"$LOG"
END
lib=$(dirname "$(find "$slurm/usr/lib" -name libslurmfull.so)")
mkdir "$tmp/state"
cat >"$tmp/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=left(10.78.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
PluginDir=$lib
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool-%n
SlurmctldPidFile=$tmp/controller.pid
SlurmdPidFile=$tmp/%n.pid
NodeName=left NodeHostname=left NodeAddr=10.78.0.1 Port=17001 State=UNKNOWN
NodeName=right NodeHostname=left NodeAddr=10.78.0.2 Port=17002 State=UNKNOWN
PartitionName=all Nodes=left,right Default=YES State=UP
END
# a namespace that lasts as long as this process
mkfifo "$tmp/hold"
unshare -nu sh -c "hostname left; $links; exec cat '$tmp/hold'" >/dev/null 2>&1 &
daemons+=($!)
exec 9>"$tmp/hold"
holder=${daemons[0]}
# before a command: in it, with SLURM's programs
there=(env PATH="$tmp/bin:$slurm/usr/bin:$slurm/usr/sbin:$PATH" LD_LIBRARY_PATH="$lib" SLURM_CONF="$tmp/slurm.conf"
	LOG="$tmp/log" VERSION="mpirun (Open MPI) 4.1.4" "$(command -v nsenter)" -t "$holder" -n -u)
rm "$tmp/bin/srun"
: >"$tmp/log"
for _ in $(seq 600); do
	"${there[@]}" ip -br addr show dev d0 2>/dev/null | grep -q 10.78.0.2/24 && break
	sleep 0.1
done
"${there[@]}" "$(echo "$slurm"/usr/sbin/slurmctld*)" -D >"$tmp/slurmctld" 2>&1 &
daemons+=($!)
for n in left right; do
	"${there[@]}" "$(echo "$slurm"/usr/sbin/slurmd*)" -D -N $n -d "$(echo "$slurm"/usr/sbin/slurmstepd*)" >"$tmp/slurmd-$n" 2>&1 &
	daemons+=($!)
done
for _ in $(seq 120); do
	[ "$("${there[@]}" sinfo -h -t idle -o %D 2>/dev/null)" != 2 ] || break
	sleep 1
done
tap_is "SLURM: two nodes are idle" "$("${there[@]}" sinfo -h -t idle -o %D 2>&1)" 2
tap_ok "pwrun in a job of SLURM" "${there[@]}" timeout 300 salloc -Q -N 2 "$top/tools/mpi/pwrun" true
tap_is "a daemon at each station, by a step at its host" "$(sort "$tmp/log")" "of a at left
of b at right"
tap_done
