#!/bin/sh
# Three spinners a CPU and one process that faults memory in and drops it, for some seconds; what /proc says at the
# beginning and at the end goes to a file, to hold a report against: times are those of /proc/uptime (CLOCK_BOOTTIME).
# Usage: tests/run/workload.sh PROGRAM SECONDS FILE
# Shell built-ins alone read and compute between start and end: each process that is started would count as load.
set -eu
program=$1
seconds=$2
file=$3
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
		read -r run wait slices <"/proc/$pid/schedstat" || continue
		name=spinner
		[ "$pid" = "$faulter" ] && name=faulter
		echo "process name=$name pid=$pid run=$run wait=$wait timeslices=$slices"
	done
} >"$file"
