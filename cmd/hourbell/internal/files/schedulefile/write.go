package schedulefile

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// Write returns a schedule file that Read reads as the same set: owner,
// revision, names, rules and jobs. It contains the values of environments
// unredacted. The error names an entry that no schedule file can declare.
func Write(set *declared.File) ([]byte, error) {
	w := &writer{envs: map[string]string{}}
	fmt.Fprintf(&w.out, "owner: %s\n", scalarText(set.Owner))
	if set.Revision != 0 {
		fmt.Fprintf(&w.out, "revision: %d\n", set.Revision)
	}
	w.limits(set.Limits)
	entries := set.All()
	if len(entries) == 0 {
		w.out.WriteString("schedules: []\n")
		return w.out.Bytes(), nil
	}
	if err := w.calendars(entries); err != nil {
		return nil, err
	}
	w.out.WriteString("schedules:\n")
	for _, entry := range entries {
		if err := w.entry(entry); err != nil {
			return nil, fmt.Errorf("write schedule %q: %w", entry.Name, err)
		}
	}
	return w.out.Bytes(), nil
}

// writer makes YAML. envs are the environments that were written, by their
// text, with the anchors that refer to them.
type writer struct {
	out  bytes.Buffer
	envs map[string]string
}

func (w *writer) entry(entry declared.Entry) error {
	s := entry.Schedule
	fmt.Fprintf(&w.out, "  - name: %s\n", scalarText(s.Name))
	rule := s.Rule
	if s.When() == "" {
		rule.Cron = entry.AtStart()
	}
	w.text("cron", rule.Cron)
	w.text("every", rule.Every)
	w.text("at", rule.At)
	if s.Follows() {
		w.key("after", afterText(s.After))
	}
	w.text("tz", rule.Zone)
	if err := w.work(s); err != nil {
		return err
	}
	for _, key := range declared.Keys() {
		switch text := key.Text(s); {
		case text == "", key.Name == declared.ExcludeKey:
		case key.Name == declared.PlaceKey:
			w.key(key.Name, placeText(text))
		case key.Bare():
			w.key(key.Name, text)
		default:
			w.text(key.Name, text)
		}
	}
	if len(s.Exclude) > 0 {
		texts, _ := hourbell.ExcludeTexts(s.Exclude)
		w.key(declared.ExcludeKey, listText(texts))
	}
	return w.hooks(s.Hooks)
}

// work writes the job of a schedule.
func (w *writer) work(s hourbell.Schedule) error {
	job := declared.Raw(s.Job)
	if job.Name != kinds.CommandKind {
		w.text("kind", job.Name)
		if len(job.JSON) > 0 {
			w.key("args", string(job.JSON))
		}
		return nil
	}
	c, err := kinds.DecodeCommand(job.JSON)
	if err != nil {
		return err
	}
	if c.Shell != "" {
		w.text("shell", c.Shell)
	} else {
		w.key("command", listText(c.Argv))
	}
	w.env(c.Env)
	w.text("dir", c.Dir)
	w.text("user", c.User)
	w.text("base", string(c.Base))
	w.text("stdin", c.Stdin)
	w.text("detached", string(c.Detached))
	return nil
}

// env writes an environment once, and refers to it from then on.
func (w *writer) env(env map[string]string) {
	if len(env) == 0 {
		return
	}
	text := mapText(env)
	if anchor, written := w.envs[text]; written {
		w.key("env", "*"+anchor)
		return
	}
	anchor := fmt.Sprintf("env%d", len(w.envs)+1)
	w.envs[text] = anchor
	w.key("env", "&"+anchor+" "+text)
}

func (w *writer) hooks(hooks hourbell.Hooks) error {
	for _, name := range hourbell.HookNames() {
		var texts []string
		for _, hook := range hooks.Field(name) {
			text, err := hookText(hook)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			texts = append(texts, text)
		}
		switch len(texts) {
		case 0:
		case 1:
			w.key(name, texts[0])
		default:
			w.key(name, "["+strings.Join(texts, ", ")+"]")
		}
	}
	return nil
}

// hookText returns a hook as a mapping on one line.
func hookText(hook hourbell.Args) (string, error) {
	pairs := &pairs{}
	job := declared.Raw(hook)
	if job.Name == kinds.HTTPKind {
		call, err := kinds.DecodeHTTP(job.JSON)
		pairs.text("url", call.URL)
		pairs.text("method", call.Method)
		pairs.mapping("header", call.Header)
		pairs.text("body", call.Body)
		if call.Timeout != 0 {
			pairs.text("timeout", time.Duration(call.Timeout).String())
		}
		if len(call.Retry) > 0 {
			pairs.add("retry", listText(call.Retry))
		}
		if call.Redirects != 0 {
			pairs.add("redirects", strconv.Itoa(call.Redirects))
		}
		return pairs.String(), err
	}
	c, err := kinds.DecodeCommand(job.JSON)
	pairs.text("shell", c.Shell)
	if len(c.Argv) > 0 {
		pairs.add("command", listText(c.Argv))
	}
	pairs.mapping("env", c.Env)
	pairs.text("dir", c.Dir)
	pairs.text("user", c.User)
	pairs.text("base", string(c.Base))
	pairs.text("detached", string(c.Detached))
	return pairs.String(), err
}

// pairs is a mapping in flow style. Empty values are left out.
type pairs struct{ list []string }

func (p *pairs) add(key, value string) { p.list = append(p.list, key+": "+value) }

func (p *pairs) text(key, value string) {
	if value != "" {
		p.add(key, scalarText(value))
	}
}

func (p *pairs) mapping(key string, value map[string]string) {
	if len(value) > 0 {
		p.add(key, mapText(value))
	}
}

func (p *pairs) String() string { return "{" + strings.Join(p.list, ", ") + "}" }

func (w *writer) key(key, value string) { fmt.Fprintf(&w.out, "    %s: %s\n", key, value) }

func (w *writer) text(key, value string) {
	if value != "" {
		w.key(key, scalarText(value))
	}
}

func listText(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = scalarText(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func mapText(texts map[string]string) string {
	p := &pairs{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		p.add(scalarText(name), scalarText(texts[name]))
	}
	return p.String()
}

// bare matches a text that needs no quotes anywhere in YAML, except the words
// with a special meaning.
var (
	bare  = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./]*([:-][A-Za-z0-9_./]+)*$`)
	words = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|y|n)$`)
)

// scalarText writes a text on one line, so that all YAML readers read the same
// text: without quotes if it is plain, in double quotes, or in single quotes if
// double quotes would need escapes.
func scalarText(text string) string {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	switch {
	case bare.MatchString(text) && !words.MatchString(text):
		return text
	case printable && strings.ContainsAny(text, `"\`):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case printable:
		return `"` + text + `"`
	}
	return `"` + escaped(text) + `"`
}

// escaped writes a text within double quotes.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch short := strings.IndexRune("\"\\\n\r\t", r); {
		case short >= 0:
			out.WriteString(`\` + `"\nrt`[short:short+1])
		case r <= 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
