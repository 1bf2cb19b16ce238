#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD: how pwrun reaches the hosts of a lab, with the launchers of Open MPI and MPICH: by
# ssh, by another command, and by steps of a job of SLURM. All programs that it calls stand in.

set -u
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
# shellcheck source=SCRIPTDIR/../../../scripts/lib/tap
. "$top/scripts/lib/tap"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
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
tap_done
