package crontab

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// names gives each line of a file its name.
type names struct {
	file  string         // what they begin with: the owner
	used  map[string]int // how often a line's contents were met
	given map[string]int // the line of each name that is in use
	begun bool           // a line that runs something has been read
}

func newNames(owner string) *names {
	return &names{file: owner, used: map[string]int{}, given: map[string]int{}}
}

// contents is what the name of a line depends on. user is empty in the user
// form.
type contents struct{ rule, zone, user, command, input string }

// key is the text that is hashed. Parts that were not always there are left
// out where they are empty, so that names last.
func (c contents) key() string {
	key := c.rule + "\x00" + c.zone + "\x00" + c.command
	if c.input != "" {
		key += "\x00input\x00" + c.input
	}
	if c.user != "" {
		key += "\x00user\x00" + c.user
	}
	return key
}

// next returns the name of the next line with these contents.
func (n *names) next(c contents) string {
	hash := sha256.Sum256([]byte(c.key()))
	name := fmt.Sprintf("%s:%s-%x", n.file, program(c.command), hash[:5])
	n.used[name]++
	if count := n.used[name]; count > 1 {
		name = fmt.Sprintf("%s-%d", name, count)
	}
	return name
}

// assigns is a word that sets a variable for the command behind it.
var assigns = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

const (
	quoting  = "'\"`$\\" // what only a shell can read
	operator = ";|&<>()" // what ends a word without a blank
	unclear  = "sh"      // the program where that is not plain to see
	inNames  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
)

// program is the base name of what a command starts, at most 32 bytes. Nothing
// else goes into names, since arguments and values set before the command
// (NAME=value) may be secret.
func program(command string) string {
	first, rest := cut(command)
	for assigns.MatchString(first) {
		if strings.ContainsAny(first, quoting+operator) {
			return unclear // where its value ends only a shell can tell
		}
		first, rest = cut(rest)
	}
	if end := strings.IndexAny(first, operator); end >= 0 {
		first = first[:end]
	}
	base := path.Base(first)
	if strings.ContainsAny(first, quoting) || strings.Trim(base, inNames) != "" || strings.Trim(base, ".") == "" {
		return unclear
	}
	return base[:min(len(base), 32)]
}
