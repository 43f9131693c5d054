package crontab

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"slices"
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

// program returns the base name of the program that a command is about, at most 32 bytes: the
// first program that is not a guard, a command such as test or cd that only prepares for another.
// Nothing else becomes part of names, because arguments and values set before a program
// (NAME=value) may be secret.
func program(command string) string {
	first := ""
	for rest, ok := command, true; ok; {
		var part string
		part, rest, ok = simple(rest)
		switch word := programOf(part); {
		case word == guard && first == "":
			first, _ = cut(strings.TrimLeft(part, blanks))
		case word != "" && word != guard:
			return word
		}
	}
	if first == "" || strings.Trim(first, inNames) != "" {
		return unclear
	}
	return first // a command of guards alone
}

// guard stands for a program that only prepares for another.
const guard = "\x00"

// openers are words of the shell after which a command begins.
var openers = []string{"if", "then", "else", "elif", "!", "{", "do", "time"}

// guards are programs that only prepare for another.
var guards = []string{"test", "[", "[[", "cd", "command", "true", ":", "umask", "fi"}

// programOf returns the name of the program that a simple command starts, guard if it only prepares
// for another, and an empty text if the command is empty.
func programOf(part string) string {
	first, rest := cut(strings.TrimLeft(part, blanks))
	for slices.Contains(openers, first) {
		first, rest = cut(rest)
	}
	for assigns.MatchString(first) {
		if strings.ContainsAny(first, quoting+operator) {
			return unclear // only a shell can find the end of the value
		}
		first, rest = cut(rest)
	}
	switch second, _ := cut(rest); {
	case first == "":
		return ""
	case first == "command" && second != "-v":
		return programOf(rest)
	case slices.Contains(guards, first):
		return guard
	}
	if end := strings.IndexAny(first, operator); end >= 0 {
		first = first[:end]
	}
	return nameOf(first)
}

// nameOf returns the name of a program, unclear if only a shell can read it.
func nameOf(program string) string {
	base := path.Base(program)
	if strings.ContainsAny(program, quoting) || strings.Trim(base, inNames) != "" || strings.Trim(base, ".") == "" {
		return unclear
	}
	return base[:min(len(base), 32)]
}

// simple returns the first simple command of a line, up to an operator of the shell that begins
// another, and the rest of the line; more: there is a rest. Operators in quotes and in
// substitutions do not count.
func simple(line string) (part, rest string, more bool) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case strings.IndexByte("'\"`", c) >= 0, c == '$' && strings.HasPrefix(line[i:], "$("):
			if i += closing(line[i:]); i >= len(line) {
				return line, "", false
			}
		case c == '&' && redirects(line, i):
		case strings.IndexByte(";|&()", c) >= 0:
			return line[:i], line[i+1:], true
		}
	}
	return line, "", false
}

// redirects reports whether the & at an index of a line belongs to a redirection.
func redirects(line string, i int) bool {
	return strings.HasPrefix(line[i+1:], ">") || i > 0 && strings.IndexByte("<>", line[i-1]) >= 0
}

// closing returns the index of the byte that ends the quotes or the substitution with which text
// begins, or the length of text.
func closing(text string) int {
	end := text[0]
	i := 1
	if end == '$' {
		end, i = ')', 2
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == end:
			return i
		case end == '\'':
		case c == '\\':
			i++
		case opens(text[i:], end):
			i += closing(text[i:])
		case end == ')' && c == '(':
			i += closing("$"+text[i:]) - 1
		}
	}
	return len(text)
}

// opens reports whether a text begins with quotes or a substitution within other quotes or another substitution that ends with end.
func opens(text string, end byte) bool {
	switch text[0] {
	case '$':
		return strings.HasPrefix(text, "$(")
	case '`':
		return end == ')' || end == '"'
	case '\'', '"':
		return end == ')'
	}
	return false
}
