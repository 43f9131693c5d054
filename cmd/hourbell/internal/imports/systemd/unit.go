package systemd

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/inifile"
	"github.com/hourbell/hourbell/internal/declared"
)

// unit is a unit file. Settings that are read are taken out of it; unread names what is left.
type unit struct {
	draft *draft.Draft
	path  string
	left  []inifile.Setting
}

func parse(d *draft.Draft, path string, text []byte) *unit {
	u := &unit{draft: d, path: path}
	u.left = inifile.Read(string(text), func(line int, problem, remedy string) { d.RefuseIn(path, line, "", problem, remedy) })
	if _, err := os.Stat(path + ".d"); err == nil {
		d.WarnIn(path, 0, "", "has a folder of drop-ins, which are not read", "name a file that systemctl cat prints")
	}
	return u
}

// take takes the settings of a key out of the unit, in their order.
func (u *unit) take(section, key string) (list []inifile.Setting) {
	u.left = slices.DeleteFunc(u.left, func(one inifile.Setting) bool {
		found := one.Section == section && one.Key == key
		if found {
			list = append(list, one)
		}
		return found
	})
	return list
}

// last takes the settings of a key out of the unit, and returns the last, which counts.
func (u *unit) last(section, key string) (one inifile.Setting) {
	for _, one = range u.take(section, key) {
	}
	return one
}

func (u *unit) ignore(section string, keys ...string) {
	for _, key := range keys {
		u.take(section, key)
	}
}

func (u *unit) ignoreSection(section string) {
	u.left = slices.DeleteFunc(u.left, func(one inifile.Setting) bool { return one.Section == section })
}

// leave names a setting without an equal, with the reason or remedy.
func (u *unit) leave(section, key, remedy string) {
	for _, one := range u.take(section, key) {
		u.draft.WarnIn(u.path, one.Line, one.Key, draft.NoEqual, remedy)
	}
}

// unread names the settings that were not read.
func (u *unit) unread() {
	for _, one := range u.left {
		u.draft.WarnIn(u.path, one.Line, one.Key, draft.NoEqual, "")
	}
}

func (u *unit) refuse(one inifile.Setting, problem, remedy string) {
	u.draft.RefuseIn(u.path, one.Line, one.Key, problem, remedy)
}

func isTrue(text string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t", "on"}, strings.ToLower(text))
}

// spanUnits are the units of a span of time.
var spanUnits = map[string]time.Duration{
	"": time.Second, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"ms": time.Millisecond, "msec": time.Millisecond, "m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// span returns a span of time: 90, 5min 20s, 1h30min. "infinity" is hourbell.MaxDuration.
func (u *unit) span(one inifile.Setting) (sum time.Duration) {
	if one.Value == "infinity" {
		return hourbell.MaxDuration
	}
	for rest := strings.TrimSpace(one.Value); rest != ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))
		length, known := spanUnits[rest[:letters]]
		if err != nil || !known || time.Duration(n) > hourbell.MaxDuration/length {
			u.refuse(one, fmt.Sprintf("%q is not a span of time that is understood here", declared.Label(one.Value, 60)), "write it like 90s or 1h 30min")
			return 0
		}
		sum += time.Duration(n) * length
		rest = strings.TrimLeft(rest[letters:], " ")
	}
	return sum
}
