for _ in 1 2 3; do hourbell enqueue --graph <(
	echo 'jobs:'
	for n in $(seq 8); do echo "  job$n: {shell: 'true', in: 1h}"; done
); done
hourbell jobs cancel 17
