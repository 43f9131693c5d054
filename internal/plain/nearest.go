package plain

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the known name that was probably meant by a misspelt name: the name with the
// fewest letters changed, missing, added or swapped with the next (a third of them at most, and
// one of two), or else the first name that begins with it. It is empty if there is none, and if name is known.
func Nearest(name string, known []string) string {
	letters := utf8.RuneCountInString(name)
	nearest, least := "", min(max(1, letters/3)+1, letters)
	begins := ""
	for _, k := range known {
		d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(k)), least)
		switch {
		case k == name:
			return ""
		case d < least:
			nearest, least = k, d
		case begins == "" && len(name) > 1 && strings.HasPrefix(k, name):
			begins = k
		}
	}
	if nearest == "" {
		return begins
	}
	return nearest
}

// DidYouMean puts a suggestion before a remedy, if there is a suggestion.
func DidYouMean(suggestion, remedy string) string {
	if suggestion == "" {
		return remedy
	}
	return "did you mean " + suggestion + "? " + remedy
}

// distance returns how many letters of a are changed, missing, added or swapped with the next
// to get b (the optimal string alignment), or a number that is at least most.
func distance(a, b []rune, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			next[j+1] = min(changed, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}
