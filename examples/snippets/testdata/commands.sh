{
	echo 'jobs:'
	for n in $(seq 20); do echo "  job$n: {shell: 'true', in: 1h}"; done
} >.jobs.yaml
hourbell enqueue --graph .jobs.yaml
