#!/bin/sh
# Waits, then runs three spinners a CPU and one process that faults memory in and drops it, for some seconds. What /proc
# says at the start, at the beginning of the load and at its end goes to a file, to hold a report against: times are those
# of /proc/uptime (CLOCK_BOOTTIME).
# Usage: tests/run/workload.sh PROGRAM WAIT SECONDS FILE
# Shell built-ins alone read and compute between start and end: each process that is started would count as load.
set -eu
program=$1
wait=$2
seconds=$3
file=$4
pids=

trap 'kill $pids 2>/dev/null; wait' EXIT
trap 'exit 1' INT TERM

# A line of what the kernel counted so far: uptime in s, psi in us of wall time. Without PSI its value is empty.
read_system() {
	psi=
	read -r uptime rest </proc/uptime
	[ ! -r /proc/pressure/cpu ] || while read -r word rest; do
		if [ "$word" = some ]; then
			psi=${rest##*total=}
		fi
	done </proc/pressure/cpu || psi=
	while read -r key value; do
		if [ "$key" = pgfault ]; then
			faults=$value
			break
		fi
	done </proc/vmstat
	echo "$1 uptime=$uptime psi_cpu_some=$psi pgfault=$faults"
}

cpus=$(nproc)
{
	read_system start
	sleep "$wait"
	read_system begin
	i=0
	while [ $i -lt $((cpus * 3)) ]; do
		"$program" spinner &
		pids="$pids $!"
		i=$((i + 1))
	done
	"$program" faulter &
	faulter=$!
	pids="$pids $faulter"
	sleep "$seconds"
	read_system end
	for pid in $pids; do
		read -r run queued slices <"/proc/$pid/schedstat" || continue
		name=spinner
		[ "$pid" = "$faulter" ] && name=faulter
		echo "process name=$name pid=$pid run=$run wait=$queued timeslices=$slices"
	done
} >"$file"
