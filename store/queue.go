package store

import "strings"

// beforePlace separates the name of a queue from the place within that queue.
const beforePlace = "@"

// InQueue reports whether a queue is the queue of that name, or the queue of a place within it
// (docs/adr/0055-the-jobs-of-a-place-have-a-queue.md). Pauses and limits of a queue concern its places, too. Statements of
// drivers have this rule in their own words.
func InQueue(queue, name string) bool {
	rest, begins := strings.CutPrefix(queue, name)
	return begins && (rest == "" || strings.HasPrefix(rest, beforePlace))
}

// CutPlace separates the queue of a place into the queue within which it is, and the place: a host or a label.
func CutPlace(queue string) (base, place string, placed bool) {
	i := strings.LastIndex(queue, beforePlace)
	if i <= 0 {
		return queue, "", false
	}
	return queue[:i], queue[i+len(beforePlace):], true
}
