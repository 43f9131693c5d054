# common.sh: prepares the shell of each page.

# hourbell runs the program. serve and demo go on in the background, and this function returns when the node has started.
# Commands that follow what happens are stopped after a second.
hourbell() {
	case "${1-} $*" in
	serve* | demo*) background "node started|demo runs" hourbell "$@" ;;
	top\ *--once*) command hourbell "$@" ;;
	*--watch* | *--follow* | top*) timeout --preserve-status --signal=INT 1 hourbell "$@" || [ $? -eq 130 ] ;;
	*) command hourbell "$@" ;;
	esac
}

# curl fails if the server refuses the request, and prints the answer.
curl() { command curl --fail-with-body "$@"; }

# background PATTERN COMMAND… starts a command, and returns when it has printed a line that matches the pattern.
background() {
	local pattern=$1 log process
	shift
	log=$(mktemp -p "$HOME" .background-XXXXXX)
	command "$@" > >(exec tee "$log") 2>&1 &
	process=$!
	for _ in $(seq 300); do
		if grep -qE "$pattern" "$log"; then return 0; fi
		if ! kill -0 "$process" 2>/dev/null; then wait "$process"; return; fi
		sleep 0.05
	done
	return 1
}
