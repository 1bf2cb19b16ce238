#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sourced by measurements of latency: the longest times that the module keeps a CPU
# or a lock, over any workload. In a guest with --icount a nanosecond is one
# instruction, so that the figures repeat.
#
#	. "$(dirname "$0")/lib_latency.sh"
#	lat_begin
#	WORKLOAD
#	lat_end NAME [LIMIT [RTNL_LIMIT]]
#
# lat_end prints, in nanoseconds (instructions), with the function that took them:
#	NAME: poll N FUNC	longest poll, timer or transmit (BH is off all the time)
#	NAME: bh N FUNC		longest function that turns BH off itself: an upper bound
#				of the section in which it is off (softirqs that it
#				lets run by turning BH on are not counted)
#	NAME: rtnl N FUNC	longest time from rtnl_lock() to rtnl_unlock(), waits included,
#				and the function that took the lock
#	NAME: hold N FUNC	longest function that takes RTNL, the kernel's requests for links
#				included: processor time, without sleep and softirqs. An upper
#				bound: a topology is made before the lock is taken
# and returns 1 if poll or bh is above LIMIT, or rtnl above RTNL_LIMIT, and the guest
# counts instructions (lat_counted). A trace of its own costs about 200 instructions per traced call.
# Needs ftrace's function and function_graph tracers (Debian's kernels have both).

lat_dir=/sys/kernel/tracing
lat_own=$lat_dir/instances/pwlat
# BH is off in all of these from beginning to end
lat_polls='pw_poll pw_fab_poll pw_half_poll pw_aton_poll pw_fab_tick pw_aton_tick pw_poets_timer pw_xmit pw_trunk_rcv_dev pw_trunk_rcv_udp'

# lat_counted: does this guest's clock count instructions?
lat_counted() { [ -n "${PW_ICOUNT:-}" ]; }

# lat_functions CALLS: functions of the module that call one of these (a regular expression)
lat_functions() {
	awk -v calls="($1)\\\\(" '/^[a-z].*[^a-z0-9_]pw_[a-z0-9_]+\(/ && !/;$/ {
		match($0, /pw_[a-z0-9_]+\(/)
		name = substr($0, RSTART, RLENGTH - 1)
	}
	$0 ~ calls { print name }' "$PW_TOP"/drivers/net/packetway/pw_*.c | sort -u
}
# functions that turn BH off themselves, and those that take RTNL
lat_bh_functions() { lat_functions 'spin_lock_bh|local_bh_disable'; }
lat_holders() { echo rtnetlink_rcv_msg default_device_exit_batch dev_ioctl; lat_functions rtnl_lock; }

lat_begin() {
	local f

	mountpoint -q "$lat_dir" || mount -t tracefs none "$lat_dir" || return 1
	mkdir -p "$lat_own" || return 1
	echo 0 >"$lat_dir/tracing_on"
	echo 0 >"$lat_own/tracing_on"
	echo nop >"$lat_dir/current_tracer"
	echo nop >"$lat_own/current_tracer"
	: >"$lat_dir/set_ftrace_filter"
	for f in $lat_polls $(lat_bh_functions) $(lat_holders) handle_softirqs __do_softirq; do
		echo "$f" >>"$lat_dir/set_ftrace_filter"
	done 2>/dev/null
	for f in rtnl_lock rtnl_unlock; do
		echo "$f"
	done >"$lat_own/set_ftrace_filter"
	echo 32768 >"$lat_dir/buffer_size_kb"
	echo 32768 >"$lat_own/buffer_size_kb"
	# time spent asleep does not count
	echo 0 >"$lat_dir/options/sleep-time"
	echo 1 >"$lat_dir/options/funcgraph-abstime"
	echo 5 >"$lat_dir/tracing_thresh"
	echo function_graph >"$lat_dir/current_tracer"
	echo function >"$lat_own/current_tracer"
	: >"$lat_dir/trace"
	: >"$lat_own/trace"
	echo 1 >"$lat_dir/tracing_on"
	echo 1 >"$lat_own/tracing_on"
}

# lat_end NAME [LIMIT [RTNL_LIMIT]]
lat_end() {
	local name=$1 limit=${2:-0} rtnl=${3:-0} status=0

	echo 0 >"$lat_dir/tracing_on"
	echo 0 >"$lat_own/tracing_on"
	{
		echo "# polls"
		cat "$lat_dir/trace"
		echo "# locks"
		cat "$lat_own/trace"
	} | awk -v name="$name" -v limit="$limit" -v most="$rtnl" -v polls="$lat_polls" \
		-v off="$(lat_bh_functions | xargs)" -v holders="$(lat_holders | xargs)" '
		/^# polls/ { locks = 0; next }
		/^# locks/ { locks = 1; next }
		/^#/ { next }
		/LOST .* EVENTS/ { lost = 1 }
		# "12.345678 | 0) ! 345.678 us | } /* pw_poll */"
		!locks && match($0, /[0-9.]+ us/) {
			ns = substr($0, RSTART, RLENGTH - 3) * 1000
			end = $1 * 1e9
			if (/softirq/) {
				# nested in a function that turns BH on again
				softirq_end[++n] = end
				softirq[n] = ns
				next
			}
			# "} /* pw_poll [packetway] */"
			sub(/ \[[a-z_0-9]+\]/, "")
			if (!match($0, /[a-z_0-9]+(\(\);| \*\/)/))
				next
			f = substr($0, RSTART, RLENGTH - 3)
			if (index(" " polls " ", " " f " ")) {
				if (ns > poll) {
					poll = ns
					pollf = f
				}
			} else {
				start = end - ns
				for (i = n; i > 0 && softirq_end[i] > start; i--)
					ns -= softirq[i]
				if (index(" " holders " ", " " f " ") && ns > hold) {
					hold = ns
					holdf = f
				}
				if (index(" " off " ", " " f " ") && ns > bh) {
					bh = ns
					bhf = f
				}
			}
		}
		# "comm-123 [000] ...1. 12.345678: rtnl_lock <-rtnetlink_rcv_msg"
		locks && match($0, /[0-9]+\.[0-9]+: [a-z_]+/) {
			split(substr($0, RSTART, RLENGTH), a, ": ")
			split($0, b, / +\[/)
			task = b[1]
			ns = a[1] * 1e9
			if (a[2] == "rtnl_lock") {
				held[task] = ns
				taker[task] = $NF
			} else if (a[2] == "rtnl_unlock" && (task in held)) {
				if (ns - held[task] > rtnl) {
					rtnl = ns - held[task]
					rtnlf = substr(taker[task], 3)
				}
				delete held[task]
			}
		}
		END {
			printf "%s: poll %d %s\n", name, poll, pollf
			printf "%s: bh %d %s\n", name, bh, bhf
			printf "%s: rtnl %d %s\n", name, rtnl, rtnlf
			printf "%s: hold %d %s\n", name, hold, holdf
			if (lost)
				printf "%s: events were lost\n", name
			exit limit && (poll > limit || bh > limit) || most && rtnl > most
		}' || status=1
	echo nop >"$lat_dir/current_tracer"
	echo nop >"$lat_own/current_tracer"
	echo 0 >"$lat_dir/tracing_thresh"
	if [ $status = 1 ] && lat_counted; then
		echo "$name: above $limit (RTNL: ${rtnl})"
		return 1
	fi
	return 0
}
