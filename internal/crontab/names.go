package crontab

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// names gives a name to each line of a file.
type names struct {
	file  string         // the prefix of the names: the owner
	used  map[string]int // how often a line's contents occurred
	given map[string]int // the line of each name in use
	begun bool           // a line with a job has been read
}

func newNames(owner string) *names {
	return &names{file: owner, used: map[string]int{}, given: map[string]int{}}
}

// contents are the parts of a line that determine its name. user is empty in
// the user form.
type contents struct{ rule, zone, user, command, input string }

// key returns the text that is hashed. Parts that were added in later releases
// are left out if they are empty, so that existing names stay the same.
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

// assigns matches a word that sets a variable for the command after it.
var assigns = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

const (
	quoting  = "'\"`$\\" // bytes that only a shell can interpret
	operator = ";|&<>()" // bytes that end a word without a blank
	unclear  = "sh"      // stands for a program that cannot be determined
	inNames  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
)

// program returns the base name of the program that a command starts, at most
// 32 bytes. Nothing else becomes part of names, because arguments and values
// set before the command (NAME=value) may be secret.
func program(command string) string {
	first, rest := cut(command)
	for assigns.MatchString(first) {
		if strings.ContainsAny(first, quoting+operator) {
			return unclear // only a shell can find the end of the value
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
