#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Unmodified programs in the virtual time of a SAN in lockstep: the same bytes in every run,
# on an idle machine and beside a load.

. "$(dirname "$0")/lib.sh"
pw_need pwctl pwmodel ping python3 jq
tmp=$(mktemp -d)
hog=
trap 'pwctl lab down virt >/dev/null 2>&1; pwctl lab down joined >/dev/null 2>&1; [ -z "$hog" ] || kill $hog; rm -rf "$tmp"' EXIT
runs=$(pw_count 3 2)
[ -z "${PW_LONG:-}" ] || runs=10
status() { "$@" >/dev/null 2>&1; echo $?; }

# a cycle is a quarter of a microsecond, so that ping shows cycles
cat >"$tmp/virt.yaml" <<'END'
lab: virt
sans:
  - {id: 0, ports: 16, rate: 32000000, clock: lockstep}
stations:
  - {name: a, port: 0, address: 10.9.0.1/24}
  - {name: b, port: 1, address: 10.9.0.2/24}
  - {name: c, port: 2, address: 10.9.0.3/24}
END
text=$(pwctl lab up "$tmp/virt.yaml" 2>&1) || {
	case $text in
	*PREEMPT_NOTIFIERS*) pw_skip "this kernel has no CONFIG_PREEMPT_NOTIFIERS" ;;
	esac
	echo "# $text"
}
tap_is "the SAN of the lab is in lockstep" "$(pwctl -j -n virt san show | jq -r '.[0].clock')" lockstep
tap_is "pwctl lab exec --virtual" "$(pwctl lab exec --virtual a date -u +%F)" 2000-01-01
# on a busy machine a program may take long to start, which pwctl would report
limit="stall 300000"
# shellcheck disable=SC2086 # two words
in_a() { pwctl lab exec a pwctl virtual $limit "$@"; }

# clocks and sleeps
tap_is "the clock begins in 2000" "$(in_a date -u +%F.%T.%N)" 2000-01-01.00:00:00.000000000
tap_is "an hour passes at once" \
	"$(in_a sh -c 'sleep 3600; date -u +%F.%T.%N')" 2000-01-01.01:00:00.000000000
tap_is "... in a child, too" \
	"$(in_a sh -c 'sh -c "sleep 5" & sleep 2; date +%s; wait; date +%s' | tr '\n' ' ')" '946684802 946684805 '
tap_is "timeout(1) ends a command after virtual time" \
	"$(in_a sh -c 'timeout 5 sleep 60; echo $?; date +%s' | tr '\n' ' ')" '124 946684805 '
cat >"$tmp/waits.py" <<'END'
import os, select, signal, socket, subprocess, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
t = time.monotonic()
def at(): return round(time.monotonic() - t, 9)
select.select([s], [], [], 1.5); print("select", at())
p = select.poll(); p.register(s, select.POLLIN); p.poll(250); print("poll", at())
e = select.epoll(); e.register(s, select.EPOLLIN); e.poll(0.25); print("epoll", at())
s.settimeout(1)
try: s.recv(10)
except TimeoutError: print("settimeout", at())
s.settimeout(None)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, (2).to_bytes(8, "little") + bytes(8))
try: s.recv(10)
except BlockingIOError: print("SO_RCVTIMEO", at())
print("lock", threading.Lock().acquire(timeout=1) and threading.Event().wait(1.5), at())
signal.signal(signal.SIGALRM, lambda *a: print("alarm", at()))
signal.alarm(2); time.sleep(3)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.25); time.sleep(1.1); signal.setitimer(signal.ITIMER_REAL, 0)
print("slept", at())
subprocess.run(["sleep", "4"]); print("child", at())
os.system("sleep 5"); print("system", at())
os.waitpid(os.posix_spawn("/bin/sleep", ["sleep", "6"], os.environ), 0); print("spawn", at())
print(os.popen("sleep 1; echo popen").read().strip(), at())
n = 0
end = time.monotonic() + 0.0001
while time.monotonic() < end:
    os.sched_yield()
    n += 1
print("yields", n, at())
END
in_a python3 "$tmp/waits.py" >"$tmp/waits" 2>&1
tap_is "every way to wait follows the clock" "$(cat "$tmp/waits")" "select 1.5
poll 1.75
epoll 2.0
settimeout 3.0
SO_RCVTIMEO 5.0
lock False 6.5
alarm 8.5
alarm 10.0
alarm 10.25
alarm 10.5
slept 10.6
child 14.6
system 19.6
spawn 25.6
popen 26.6
yields 100 26.6001"

# computing
# shellcheck disable=SC2016 # for the shell of the run
tap_is "computing takes no time" "$(in_a sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; date +%s.%N')" \
	946684800.000000000
tap_not "... unless it is to" test "$(pwctl lab exec a pwctl virtual cpu 1000 python3 -c '
import time
t = time.monotonic()
sum(range(100000))
print(time.monotonic() - t > 0)')" = False
cat >"$tmp/charge.py" <<'END'
import ctypes, time
t = time.monotonic_ns()
ctypes.CDLL(None).pwl_charge(ctypes.c_uint64(123456))
print(time.monotonic_ns() - t)
END
# rounded up to a cycle
tap_is "pwl_charge() takes what it says" "$(in_a python3 "$tmp/charge.py")" 123500

# where the root is FUSE or a network file system, each look at a path is a sleep
cat >"$tmp/path.py" <<'END'
import socket, time
for kind in socket.SOCK_STREAM, socket.SOCK_STREAM | socket.SOCK_NONBLOCK:
    try: socket.socket(socket.AF_UNIX, kind).connect("/usr/share/packetway/none")
    except FileNotFoundError: print(time.time())
END
# shellcheck disable=SC2016 # for the shell of the run
tap_is "time stands still while a path is looked up" \
	"$(in_a bash -c 'sleep 60 & python3 '"$tmp/path.py"'; echo "$(date +%s)"; kill $!' | tr '\n' ' ')" \
	'946684800.0 946684800.0 946684800 '

# a busy waiter whose looks are free, as pwrun --virtual has them, at the end of a connection
cat >"$tmp/end.py" <<'END'
import os, socket, time
a, b = socket.socketpair()
b.close()
t = time.monotonic()
while time.monotonic() < t + 1e-4:
    a.recv(1)
    os.sched_yield()
print("over")
END
tap_is "a loop that reads the end of a connection gets on" \
	"$(in_a timeout -s KILL 300 env PW_TIME_LOOKS=free python3 "$tmp/end.py")" over

# refusals
tap_is "a static program is refused" "$(in_a /sbin/ldconfig 2>&1)" \
	"pwctl: /sbin/ldconfig is linked statically: no library can give it virtual clocks"
tap_is "... with a status" "$(status in_a /sbin/ldconfig)" 2
tap_is "no such program" "$(status in_a /nowhere/prog)" 2
tap_is "no station here" "$(unshare -n pwctl virtual true 2>&1)" "pwctl: this namespace has no station"
tap_is "cpu is a factor" "$(status pwctl lab exec a pwctl virtual cpu -3 true)" 2
tap_is "the command's own status" "$(status in_a sh -c 'exit 7')" 7
tap_is "a trunk of a SAN in lockstep is refused" \
	"$(pwctl -n virt router add t0 san 0:7 trunk udp 127.0.0.1:7001 127.0.0.1:7002 insecure 2>&1 | grep -o 'A SAN in lockstep has no trunks')" \
	"A SAN in lockstep has no trunks"

# a stall is a report
pwctl lab exec a pwctl virtual stall 3000 sh -c 'sleep 1; sleep 1000000 | cat' >"$tmp/out" 2>&1
sed 's/^/# /' "$tmp/out"
tap_is "no stall while a sleep is pending" "$(grep -c stalled "$tmp/out")" 0
pwctl lab exec a pwctl virtual stall 3000 python3 -c 'import os; os.read(os.pipe()[0], 1)' >"$tmp/out" 2>&1
tap_is "a stall has a status of its own" $? 99
sed 's/^/# /' "$tmp/out"
tap_ok "... and a sentence" grep -q 'the clock has stalled' "$tmp/out"
tap_ok "... and a table" grep -Eq '^ *[0-9]+ python3 +0 +[0-9]+  read ' "$tmp/out"

# again NAME COMMAND: as often as $runs says, it prints what it printed before
again() {
	local i bad=0

	for ((i = 2; i <= runs; i++)); do
		"$2" >"$tmp/$1.$i" 2>&1
		cmp "$tmp/$1.1" "$tmp/$1.$i" || { bad=1; diff "$tmp/$1.1" "$tmp/$1.$i" | head -n 4; }
	done
	return "$bad"
}

# ping: the same to the last digit, and what the model of the fabric says
pings() { in_a ping -n -c 5 10.9.0.2; }
pings >"$tmp/ping.1"
sed 's/^/# /' "$tmp/ping.1"
# request at cycle 4000000 k, 84 bytes, and the answer when it has arrived
expected() {
	local k at pair

	echo cycle,src,dst,bytes >"$tmp/messages.csv"
	for k in 0 1 2 3 4; do
		at=$((4000000 * k))
		for pair in 0,1 1,0; do
			echo "$at,$pair,84" >>"$tmp/messages.csv"
			at=$(pwmodel fabric --messages "$tmp/messages.csv" --engine fast --pack immediately \
				--unpack immediately | awk -F, 'END { print $9 }')
		done
		awk -v c=$((at - 4000000 * k)) 'BEGIN { printf "time=%.3f ms\n", int(c / 4) / 1000 }'
	done
}
tap_is "ping takes what the model says" "$(grep -o 'time=.*' "$tmp/ping.1")" "$(expected)"

# an unmodified program with sockets and sleeps
cat >"$tmp/talk.py" <<'END'
import socket, sys, threading, time
me, other, first = sys.argv[1], sys.argv[2], sys.argv[3] == "first"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((me, 5000))
t0 = time.time()
# the other one is there
time.sleep(1)
for i in range(20):
    if first:
        s.sendto(b"x" * (10 * i), (other, 5000))
        time.sleep(0.001 * (i % 3))
    data, _ = s.recvfrom(2000)
    print(me, i, len(data), "%.9f" % (time.time() - t0), "%.9f" % time.monotonic())
    if not first:
        s.sendto(data + b"y", (other, 5000))
def late(n):
    time.sleep(n / 1000)
    s.sendto(b"z" * n, (other, 5000))
threads = [threading.Thread(target=late, args=(n,)) for n in range(1, 5)]
for t in threads: t.start()
for i in range(4):
    data, _ = s.recvfrom(2000)
    print(me, "late", len(data), "%.9f" % time.monotonic())
for t in threads: t.join()
END
talk() {
	in_a sh -c "pwctl lab exec b python3 '$tmp/talk.py' 10.9.0.2 10.9.0.1 second >'$tmp/second' &
		python3 '$tmp/talk.py' 10.9.0.1 10.9.0.2 first; wait; cat '$tmp/second'"
}
talk >"$tmp/talk.1" 2>&1
sed -n '1,3p;$p' "$tmp/talk.1" | sed 's/^/# /'
tap_is "the program prints what it should" "$(wc -l <"$tmp/talk.1")" 48

# a thread that waits for a time without a wait
cat >"$tmp/spin.py" <<'END'
import time
t, n = time.monotonic_ns(), 0
while time.monotonic_ns() < t + 50000: n += 1
print(n, time.monotonic_ns() - t)
END
spin() { in_a python3 "$tmp/spin.py"; }
timeout 100 bash -c "$(declare -f in_a spin); tmp=$tmp limit='$limit'; spin" >"$tmp/spin.1" 2>&1
sed 's/^/# /' "$tmp/spin.1"
tap_is "a loop that reads the clock gets on" "$(cut -d' ' -f2 "$tmp/spin.1")" 51000
tap_ok "... the same bytes in $runs runs" again spin spin

# iperf3 sends datagrams at a rate; its control connection is TCP, the port of which is random
if command -v iperf3 >/dev/null; then
	# shellcheck disable=SC2086 # two words
	iperf() {
		timeout 300 pwctl lab exec a pwctl virtual $limit fresh quantum 100000 sh -c \
			"pwctl lab exec b iperf3 -s -1 >'$tmp/server' &
			sleep 1; iperf3 -u -c 10.9.0.2 -k 20 -b 400K -l 500 --cport 5300; wait; cat '$tmp/server'" |
			sed '/^Accepted connection/s/port .*//' | rates
	}
	# TCP carries the reports of iperf3, and on a busy machine rates and jitter may differ a little
	# (packetway-lockstep.rst); only soaks compare them
	rates() {
		if [ -n "${PW_LONG:-}" ]; then
			cat
		else
			sed -E 's/[0-9.]+ Kbits/X Kbits/; s/ [0-9.]+ ms / X ms /'
		fi
	}
	iperf >"$tmp/iperf.1" 2>&1
	sed 's/^/# /' "$tmp/iperf.1"
	tap_is "iperf3 -u: all datagrams arrive" "$(grep -c '0/20 (0%)  receiver' "$tmp/iperf.1")" 2
	tap_ok "iperf3 -u: the same report in $runs runs$([ -n "${PW_LONG:-}" ] || echo ", rates aside")" again iperf iperf
else
	tap_skip "iperf3 -u: the same bytes" "iperf3 is not installed"
fi

tap_ok "ping: the same bytes in $runs runs" again ping pings
tap_ok "a Python program: the same bytes in $runs runs" again talk talk

# SANs that a router joins share a clock; those of SAN 1 have cycles of half a microsecond
cat >"$tmp/joined.yaml" <<'END'
lab: joined
sans:
  - {id: 0, ports: 16, rate: 32000000, clock: lockstep}
  - {id: 1, ports: 16, rate: 16000000, clock: lockstep}
routers: [r0 san 0:15 san 1:15]
stations:
  - {name: ja, san: 0, port: 0, address: 10.8.0.1/24}
  - {name: jb, san: 1, port: 0, address: 10.8.0.2/24}
END
# cycles SRC DST: of a message of 84 bytes alone
cycles() {
	printf 'cycle,src,dst,bytes\n0,%s,84\n' "$1,$2" >"$tmp/messages.csv"
	pwmodel fabric --messages "$tmp/messages.csv" --engine fast --pack immediately \
		--unpack immediately | awk -F, 'END { print $9 }'
}
tap_ok "a lab of two SANs in lockstep with a router" pwctl lab up "$tmp/joined.yaml"
# shellcheck disable=SC2086 # two words
in_ja() { pwctl lab exec ja pwctl virtual $limit "$@"; }
crossing() { pwctl lab exec --virtual ja ping -n -c 3 10.8.0.2; }
crossing >"$tmp/crossing.1" 2>&1
sed 's/^/# /' "$tmp/crossing.1"
us=$((($(cycles 0 15) + $(cycles 15 0)) / 4 + ($(cycles 15 0) + $(cycles 0 15)) / 2))
tap_is "a ping over the router takes what the model says of four messages" \
	"$(grep -o 'rtt.*' "$tmp/crossing.1")" \
	"rtt min/avg/max/mdev = $(awk -v u=$us 'BEGIN { printf "%.3f/%.3f/%.3f", u / 1000, u / 1000, u / 1000 }')/0.000 ms"
tap_is "... and no message came from outside" "$(grep -c outside "$tmp/crossing.1")" 0
tap_ok "... the same bytes in $runs runs" again crossing crossing
far() {
	in_ja sh -c "pwctl lab exec jb python3 '$tmp/talk.py' 10.8.0.2 10.8.0.1 second >'$tmp/second' &
		python3 '$tmp/talk.py' 10.8.0.1 10.8.0.2 first; wait; cat '$tmp/second'"
}
far >"$tmp/far.1" 2>&1
tap_is "a Python program on both SANs" "$(wc -l <"$tmp/far.1")" 48
(while :; do :; done) &
hog=$!
tap_ok "... the same bytes in $runs runs beside a load" again far far
kill $hog
hog=
pwctl -n joined san set 1 clock free
tap_ok "a message from a SAN whose time is free is said to be outside" \
	eval 'in_ja ping -n -c 1 10.8.0.2 2>&1 | grep -q "outside the run"'
pwctl lab down joined >/dev/null

# the published programs, one process per element of a matrix
cat >"$tmp/system.csv" <<'END'
a,b,c,d
2,1,-1,8
-3,-1,2,-11
-2,1,2,-3
END
printf 'a,b\n1,2\n3,4\n' >"$tmp/a.csv"
printf 'a,b\n5,6\n7,8\n' >"$tmp/b.csv"
published() { # in a namespace with stations s0 to s15
	local v="pwctl virtual $limit fresh time"

	$v pwecho 4 1000 20000
	$v pwsolve "$tmp/system.csv"
	$v pwmatmul "$tmp/a.csv" "$tmp/b.csv"
}
fast() { ip netns exec atm_fast bash -c "$(declare -f published); tmp=$tmp limit='$limit'; published"; }
rtl() { ip netns exec atm_rtl bash -c "$(declare -f published); tmp=$tmp limit='$limit'; published"; }
for engine in fast rtl; do
	ip netns add atm_$engine
	ip netns exec atm_$engine bash -c "pwctl san add 0 ports 16 engine $engine clock lockstep
		for i in {0..15}; do pwctl station add s\$i san 0 port \$i mtu 65000 up; done"
	$engine >"$tmp/$engine.1" 2>&1
	sed 's/^/# /' "$tmp/$engine.1"
	tap_is "$engine: the system's solution" "$(grep -E '^x[0-9]' "$tmp/$engine.1" | tr '\n' ' ')" \
		"x1,2.000000 x2,3.000000 x3,-1.000000 "
	tap_is "$engine: times of three programs" "$(grep -c 'virtual time: [1-9]' "$tmp/$engine.1")" 3
	tap_ok "$engine: the same bytes and times in $runs runs" again $engine $engine
done

# the communication log: the same program in the kernel's fabric and on the model in user space
golden=$(dirname "$0")/../tools/testing/golden/K3
logged() { # ENGINE WORDS... -- OPTIONS OF PWSOLVE...
	local engine=$1

	shift
	while [ "$1" != -- ]; do model+=("$1"); shift; done
	shift
	pwctl experiment contention engine "$engine" machine module "${model[@]}" log "$tmp/model.csv" >/dev/null
	ip netns exec "atm_$engine" pwctl virtual stall 300000 fresh pwsolve "$@" -l "$tmp/log.csv" \
		"$golden/example4_system.csv" >"$tmp/out" 2>&1 || sed 's/^/# /' "$tmp/out"
	diff "$tmp/model.csv" "$tmp/log.csv" | sed 's/^/# /' | head -n 10
	cmp -s "$tmp/model.csv" "$tmp/log.csv"
}
for engine in fast rtl; do
	model=()
	tap_ok "$engine: pwsolve logs what the model says" logged $engine -- -w off
	tap_is "... 134 operations" "$(tail -n +2 "$tmp/log.csv" | wc -l) $(tail -n 1 "$tmp/out")" \
		"134 operations,134"
	tap_is "... the last one is the published one" "$(tail -n 1 "$tmp/log.csv" | cut -d, -f2-)" \
		"receive,20,4,"
	tap_is "... the published solution" "$(grep '^x[0-9]' "$tmp/out")" \
		"$(tail -n +2 "$golden/example4_solution.csv")"
	model=()
	tap_ok "$engine: likewise with what the library's calls cost" logged $engine processes charged --
done
in_fast() { ip netns exec atm_fast pwctl virtual stall 300000 fresh "$@"; }
in_fast pwsolve -w 1000 -l "$tmp/slow.csv" "$golden/example4_system.csv" >/dev/null
tap_ok "a host that takes time per word takes longer" test \
	"$(tail -n 1 "$tmp/slow.csv" | cut -d, -f1)" -gt $(($(tail -n 1 "$tmp/log.csv" | cut -d, -f1) + 10000))
in_fast pwmatmul -l "$tmp/mul.csv" "$tmp/a.csv" "$tmp/b.csv" >/dev/null
tap_is "pwmatmul logs its operations" "$(cut -d, -f2-3 "$tmp/mul.csv" | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" \
	"1operation,type 2receive,1 2receive,3 2receive,4 2receive,5 2receive,6 2receive,7 2send,1 2send,3 1send,4 1send,5 1send,6 1send,7 "
in_fast pwecho -l "$tmp/echo.csv" 4 1000 >"$tmp/out"
tap_is "pwecho logs its messages" "$(tail -n +2 "$tmp/echo.csv" | cut -d, -f2- | tr '\n' ' ')" \
	"send,1,0,4 receive,1,4, send,2,0,4 receive,2,4, "
tap_is "... with the cycles that it prints" \
	"$(awk -F, 'NR > 1 { if ($2 == "send") at = $1; else print $1 - at }' "$tmp/echo.csv" | tr '\n' ' ')" \
	"$(cut -d, -f2 "$tmp/out" | tr '\n' ' ')"
tap_is "without virtual time there are no cycles" "$(ip netns exec atm_fast pwsolve -l "$tmp/x" "$tmp/system.csv" 2>&1)" \
	"-l: only virtual time has cycles, see 'pwctl virtual'"

(while :; do :; done) &
hog=$!
tap_ok "ping beside a load: the same bytes" again ping pings
tap_ok "a Python program beside a load: the same bytes" again talk talk
tap_ok "published programs beside a load, fast: the same bytes and times" again fast fast
tap_ok "published programs beside a load, rtl: the same bytes and times" again rtl rtl
kill $hog
hog=
for engine in fast rtl; do ip netns del atm_$engine; done
tap_done
