package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// failure is a failure of the drill in docs/production.md, as the page describes it.
type failure struct {
	name         string
	level, check string         // of the finding
	found        *regexp.Regexp // what it says
	everywhere   bool           // not only doctor has the finding, but also top, the pages, the API and the metrics
	top          *regexp.Regexp // what top prints instead of its screen; nil: it prints its screen
	code         int            // of /readyz; 0: it does not answer
	reason       *regexp.Regexp // in the answer of /readyz
	alert        [2]string      // its name, and the metric that it is about
	metric       *regexp.Regexp // its line in the metrics; nil: no node answers
	rises        bool           // the line is another than before the failure, and stays
	log          string         // a line of a node
	wayOut       []string       // commands of the program, without its name
}

// readDrill reads the failures of docs/production.md, by their headings.
func readDrill(t *testing.T) map[string]*failure {
	t.Helper()
	const heading = "\n## Ten failures at three in the morning\n"
	_, text, found := strings.Cut(readFile("../../docs/production.md"), heading)
	if !found {
		t.Fatalf("docs/production.md has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	alerts := readFile("../../deploy/prometheus/alerts.yml")
	failures := map[string]*failure{}
	for _, section := range strings.Split(text, "\n### ")[1:] {
		f := &failure{}
		f.name, section, _ = strings.Cut(section, "\n")
		failures[f.name] = f
		for line := range strings.Lines(section) {
			if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 2 {
				f.read(t, cells[0], cells[1])
			}
		}
		_, rule, _ := strings.Cut(alerts, "- alert: "+f.alert[0]+"\n")
		rule, _, _ = strings.Cut(rule, "- alert: ")
		if !strings.Contains(rule, f.alert[1]) {
			t.Errorf("%s: deploy/prometheus has no alert %s about %s", f.name, f.alert[0], f.alert[1])
		}
	}
	if len(failures) != 10 {
		t.Errorf("the drill has %d failures", len(failures))
	}
	return failures
}

var (
	findingCell = regexp.MustCompile("^(error|warning) `([a-z-]+)`: (.+)$")
	readyCell   = regexp.MustCompile("^(?:of [a-z ]+: )?([0-9]{3})(?:, (.+))?$")
	alertCell   = regexp.MustCompile("^`(Hourbell[A-Za-z]+)`: .*`((hourbell_[a-z_]+)[^`]*)`(?: (is [0-9]|rises))?$")
	logCell     = regexp.MustCompile("^(?:of [a-z ]+: )?(.+)$")
	commandSpan = regexp.MustCompile("`hourbell ([^`]+)`")
)

// read reads a row of a failure.
func (f *failure) read(t *testing.T, where, what string) {
	t.Helper()
	part := func(cell *regexp.Regexp) []string {
		parts := cell.FindStringSubmatch(what)
		if parts == nil {
			t.Fatalf("%s: the row %s has %q", f.name, where, what)
		}
		return parts
	}
	switch where {
	case "doctor", "doctor, top, pages":
		parts := part(findingCell)
		f.level, f.check, f.found, f.everywhere = parts[1], parts[2], anyWords(parts[3]), where != "doctor"
	case "top":
		f.top = anyWords(what)
	case "`/readyz`":
		if what != "does not answer" {
			parts := part(readyCell)
			f.code, _ = strconv.Atoi(parts[1])
			f.reason = anyWords(parts[2])
		}
	case "alert":
		parts := part(alertCell)
		f.alert, f.rises = [2]string{parts[1], parts[3]}, parts[4] == "rises"
		switch value, is := strings.CutPrefix(parts[4], "is "); {
		case is:
			f.metric = regexp.MustCompile("(?m)^" + regexp.QuoteMeta(parts[2]+" "+value) + "$")
		case f.rises:
			f.metric = regexp.MustCompile("(?m)^" + parts[3] + " [1-9][0-9]*$")
		}
	case "log":
		f.log = part(logCell)[1]
	case "way out":
		f.wayOut = []string{}
		for _, span := range commandSpan.FindAllStringSubmatch(what, -1) {
			f.wayOut = append(f.wayOut, span[1])
		}
	case "where", "---":
	default:
		t.Fatalf("%s: a row about %s", f.name, where)
	}
}

// anyWords returns a pattern for a text in which … stands for any words.
func anyWords(text string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(text), "…", ".*"))
}
