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
	file string
	used map[string]int
}

func newNames(path string) *names {
	return &names{file: declared.Label(filepath.Base(path), 100), used: map[string]int{}}
}

// next returns the name of the next line with these contents.
func (n *names) next(rule, zone, command string) string {
	hash := sha256.Sum256([]byte(rule + "\x00" + zone + "\x00" + command))
	name := fmt.Sprintf("crontab:%s:%s-%x", n.file, readable(command), hash[:5])
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
