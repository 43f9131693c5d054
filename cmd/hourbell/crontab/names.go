package crontab

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// names gives each line of a file its name.
type names struct {
	file  string         // what they begin with
	used  map[string]int // how often a line's contents were met
	given map[string]int // the line of each name that is in use
	begun bool           // a line that runs something has been read
}

func newNames(path string) *names {
	return &names{file: "crontab:" + declared.Label(filepath.Base(path), 100), used: map[string]int{}, given: map[string]int{}}
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
	name := fmt.Sprintf("%s:%s-%x", n.file, readable(c.command), hash[:5])
	n.used[name]++
	if count := n.used[name]; count > 1 {
		name = fmt.Sprintf("%s-%d", name, count)
	}
	return name
}

// readable is the beginning of a command in letters, digits and . _ / -. Values
// set before the command (NAME=value) are left out: they may be secrets.
func readable(command string) string {
	const limit = 32
	for {
		first, rest := cut(command)
		if rest == "" || !strings.Contains(first, "=") {
			break
		}
		if strings.ContainsAny(first, `'"`+"`$\\") {
			return "sh" // where its value ends only a shell can tell
		}
		command = rest
	}
	var out strings.Builder
	dash := false
	for _, c := range command {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/", c) {
			dash = true
			continue
		}
		if dash && out.Len() > 0 {
			out.WriteByte('-')
		}
		dash = false
		if out.WriteRune(c); out.Len() >= limit {
			break
		}
	}
	if out.Len() == 0 {
		return "sh"
	}
	return out.String()
}
