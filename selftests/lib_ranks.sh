#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by bench_*.sh: eight namespaces, each with a station pw0 and a veth eth0 into one
# bridge, and Open MPI with a rank in each of them.

# called by mpirun in place of ssh: --agent NETNS,... 10.8.0.RANK COMMAND...
if [ "${1:-}" = --agent ]; then
	rank=${3##*.}
	netns=$(echo "$2" | cut -d, -f"$rank")
	shift 3
	exec ip netns exec "$netns" unshare --uts sh -c "hostname rank$rank && $*"
fi

. "$(dirname "$0")/lib.sh"
pw_need ip awk mpirun mpi_check

# Ranks are one scheduling group, as in a login session on a machine with systemd. Autogroup, which
# makes one for each process that mpirun starts, has no effect there. It stays on with PW_AUTOGROUP=1.
[ -n "${PW_AUTOGROUP:-}" ] || sysctl -qw kernel.sched_autogroup_enabled=0

trap cleanup_all_ns EXIT
setup_ns HUB R1 R2 R3 R4 R5 R6 R7 R8 || exit 1
# shellcheck disable=SC2153,SC2154 # setup_ns sets them
ranks=("$R1" "$R2" "$R3" "$R4" "$R5" "$R6" "$R7" "$R8")

sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for ns in "$HUB" "${ranks[@]}"; do
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n "$HUB" link add hub0 type bridge forward_delay 0
ip -n "$HUB" link set hub0 up
for i in "${!ranks[@]}"; do
	ns=${ranks[i]}
	ip -n "$ns" link add eth0 type veth peer name "p$i" netns "$HUB"
	ip -n "$HUB" link set "p$i" master hub0 up
	ip -n "$ns" addr add "10.8.0.$((i + 1))/24" dev eth0
	ip -n "$ns" link set eth0 up
	ip -n "$R1" link add "s$i" type packetway
	ip -n "$R1" link set "s$i" netns "$ns" name pw0
	ip -n "$ns" link set pw0 up
done

# mpi ARGUMENT...: mpirun with a rank in each namespace, over TCP by eth0, or by $btl_if
mpi() {
	local hosts agent

	hosts=$(printf '10.8.0.%d:1,' {1..8})
	agent="$PW_SELFTESTS/lib_ranks.sh --agent $(IFS=,; echo "${ranks[*]}")"
	$agent 10.8.0.1 mpirun --allow-run-as-root -H "${hosts%,}" -np 8 --bind-to none \
		--mca plm_rsh_agent "'$agent'" \
		--mca plm_rsh_no_tree_spawn 1 --mca btl tcp,self --mca btl_tcp_if_include "${btl_if:-eth0}" \
		--mca oob_tcp_if_include eth0 --mca pml ob1 --mca mpi_yield_when_idle 1 "$@"
}

# us: the time that mpi_check printed, if the result was right
us() { sed -n 's/^allreduce of [0-9]* bytes, 8 ranks: \([0-9.]*\) us, right$/\1/p'; }
