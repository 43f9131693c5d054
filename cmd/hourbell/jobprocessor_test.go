package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFromAJobProcessor runs the commands of docs/from-a-job-processor.md in their order.
func TestFromAJobProcessor(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-a-job-processor.md")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	n := 0
	for _, found := range regexp.MustCompile("(?m)\\| `hourbell (.*)` \\|$").FindAllStringSubmatch(string(page), -1) {
		args := shellWords(found[1])
		if r := b.run(args...); r.code != 0 {
			t.Errorf("hourbell %s: exit code %d, stderr %q", found[1], r.code, r.err)
		}
		n++
	}
	if n < 20 {
		t.Errorf("the page has only %d commands", n)
	}
}

// shellWords splits a line at spaces outside single quotes.
func shellWords(line string) (words []string) {
	for _, word := range regexp.MustCompile(`('[^']*'|[^ '])+`).FindAllString(line, -1) {
		words = append(words, strings.ReplaceAll(word, "'", ""))
	}
	return words
}
