package main

import (
	"fmt"
	"io"
	"strings"
)

const introduction = `Hourbell %s is licensed under the Apache License 2.0. It contains software of
others. This is the list of it, with the licences and with the addresses of the
source; after it come the texts of the licences and notices, each text once.

`

var line = strings.Repeat("-", 80)

// writeNotices writes the licences of the modules of others.
func writeNotices(out io.Writer, version string, modules []*module) {
	fmt.Fprintf(out, introduction, version)
	heads := map[string][]string{} // of a text: the files that have it
	var order []string
	for _, one := range modules {
		if isOwn(one.path) {
			continue
		}
		fmt.Fprintf(out, "%s %s\n    %s\n    %s\n", one.name(), one.version, one.licence, one.sourceURL())
		for _, text := range one.texts {
			if heads[text.content] == nil {
				order = append(order, text.content)
			}
			heads[text.content] = append(heads[text.content], fmt.Sprintf("%s %s: %s", one.name(), one.version, text.name))
		}
	}
	for _, content := range order {
		fmt.Fprintf(out, "\n%s\n%s\n%s\n\n%s\n", line, strings.Join(heads[content], "\n"), line, strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n")))
	}
}

// name returns the name of a module for people.
func (m *module) name() string {
	if m.path == standard {
		return "Go standard library"
	}
	return m.path
}

// sourceURL returns the address of the source of a module.
func (m *module) sourceURL() string {
	if m.path == standard {
		return "https://go.dev/dl/go" + m.version + ".src.tar.gz"
	}
	return "https://proxy.golang.org/" + escaped(m.path) + "/@v/" + escaped(m.version) + ".zip"
}

// escaped returns a path or a version as addresses have it: small letters with an exclamation mark for capitals.
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
