package schedulefile

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// keysPage is the page of all keys, which is made from the tables that Read uses.
const keysPage = "../../../../../docs/keys.md"

// TestKeysPage compares the page with the keys. HOURBELL_UPDATE_GOLDEN=1 writes the page.
func TestKeysPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Keys of schedule files

This page is made from the tables by which the program reads the files; ` + "`hourbell schema`" + ` prints the same as a JSON Schema, with
which editors complete and check keys. ` + "[Begin with YAML](begin-yaml.md)" + ` has examples. In a crontab the comment
` + "`#hourbell: KEY=VALUE`" + ` gives the keys of a schedule from *queue* on, and hooks, to the line below it.

A text may be any single value. A duration is a number with a unit, such as ` + "`90s`, `20m`, `1h30m`" + `.
`)
	hooks := hookEvents().names()
	for _, section := range []struct {
		title, about string
		keys         keys
		leaveOut     []string
	}{
		{"The file", "The [hooks](#hooks) of a file are the hooks of all its schedules, unless a group or a schedule has its own.", fileKeys, hooks},
		{"A schedule", "An item of `schedules`. It has a name, one of `cron`, `on_calendar`, `every`, `at` and `after`, and one of `command`, `shell`, `http`, `sql` and `kind`.", entryKeys, hooks},
		{"Hooks", "Keys of a file, a group or a schedule. A value is a line for the shell, a URL, a [mapping](#a-hook), `none`, or a list of these. See [hooks](hooks.md).", hookEvents(), nil},
		{"A hook", "A hook as a mapping, with one of `command`, `shell` and `url`.", hookKeys, nil},
		{"http", "See [kinds](kinds.md#http-a-request).", httpKeys, nil},
		{"sql", "See [kinds](kinds.md#sql-a-statement-in-the-jobs-transaction).", sqlKeys, nil},
		{"after", "An edge as a mapping. As a text it is `NAME[:OUTCOME[:DELAY]]`; a list has several. See [schedules that follow schedules](dependencies.md#schedules-that-follow-schedules).", afterKeys, nil},
		{"on", "A place as a mapping with one of the keys; without it, `one` is any node, and `every` each host. See [places](places.md).", placeKeys, nil},
		{"A calendar", "A value of `calendars`. See [calendars](calendars.md).", calendarKeys, nil},
		{"A rule of a calendar", "An item of `rules`, with one of `cron`, `on_calendar`, `every` and `at`.", exclusionRuleKeys, nil},
		{"A limit", "A value of `limits`. See [limits](limits.md).", limitKeys, nil},
		{"kinds: keep", "The value of `keep`, as in `kinds: {http: {keep: {completed: none}}}`. See [how long finished jobs are kept](commands.md#how-long-finished-jobs-are-kept).", keepKeys, nil},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | meaning |\n|---|---|---|\n", section.title, section.about)
	keys:
		for _, k := range section.keys {
			for _, name := range section.leaveOut {
				if k.name == name {
					continue keys
				}
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, form(k.value), strings.ReplaceAll(k.about, "|", `\|`))
		}
	}
	if os.Getenv("HOURBELL_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(keysPage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Errorf("%s differs from the keys that are read; HOURBELL_UPDATE_GOLDEN=1 rewrites it", keysPage)
	}
}

// form describes the values that a schema accepts.
func form(s *schema) string {
	switch {
	case s.Ref == ref("hook").Ref:
		return "a text or a mapping"
	case s.Ref != "":
		return "a mapping"
	case len(s.AnyOf) > 0:
		var forms []string
		for _, one := range s.AnyOf {
			if text := form(one); len(forms) == 0 || forms[len(forms)-1] != text {
				forms = append(forms, text)
			}
		}
		return strings.Join(forms, " or ")
	case len(s.Enum) > 0:
		return "`" + strings.Join(s.Enum, "`, `") + "`"
	case s.Minimum != nil && *s.Maximum == math.MaxInt64:
		return fmt.Sprintf("a number from %d", *s.Minimum)
	case s.Minimum != nil:
		return fmt.Sprintf("a number, %d to %d", *s.Minimum, *s.Maximum)
	case s.Pattern != "":
		return "a duration"
	case len(s.Type) == 0:
		return "anything"
	}
	switch s.Type[0] {
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	case "boolean":
		return "`true` or `false`"
	}
	return "a text"
}
