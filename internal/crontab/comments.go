package crontab

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// The comments that set fields.
const (
	lineComment = "hourbell"
	fileComment = "hourbell-file"
)

// pair is key=value in a #hourbell: or #hourbell-file: comment.
type pair struct {
	key, value string
	line       int
}

// settings are the pairs of one or more comments, each key once, except keys of hooks.
type settings []pair

func (s settings) find(key string) (pair, bool) {
	i := slices.IndexFunc(s, func(p pair) bool { return p.key == key })
	if i < 0 {
		return pair{}, false
	}
	return s[i], true
}

// commentWord matches the first word of a comment, and the text after it.
var commentWord = regexp.MustCompile(`^#+[ \t]*([A-Za-z][A-Za-z_-]*)[ \t]*(:?)(.*)$`)

// looksLikePair matches text that looks like a setting.
var looksLikePair = regexp.MustCompile(`(^|[ \t])[a-z_]+=`)

// comment reads a line that begins with #.
func (s *scan) comment(line string) {
	rest, forLine := strings.CutPrefix(line, "#"+lineComment+":")
	if forLine {
		s.above = s.settings(s.above, rest, s.lineKeys())
		return
	}
	s.strayComments()
	rest, forFile := strings.CutPrefix(line, "#"+fileComment+":")
	switch {
	case forFile && s.names.begun:
		s.add("#"+fileComment, "stands below a line that runs something", "put it above the first line")
	case forFile:
		before := len(s.whole)
		s.whole = s.settings(s.whole, rest, s.fileKeys())
		s.ofFile(s.whole[before:])
	default:
		s.nearComment(line)
	}
}

// nearComment warns about comments that look like misspelt #hourbell: comments.
func (s *scan) nearComment(line string) {
	m := commentWord.FindStringSubmatch(line)
	if m == nil {
		return
	}
	word, meant := strings.ToLower(m[1]), lineComment
	if strings.HasSuffix(declared.Suggest(word, []string{fileComment}), "?)") || word == fileComment {
		meant = fileComment
	} else if word != lineComment && declared.Suggest(word, []string{lineComment}) == "" {
		return
	}
	field, remedy := "#"+declared.Label(m[1], 60), "write #"+meant+": without a blank before it, or begin the comment with another word"
	switch {
	case looksLikePair.MatchString(m[3]):
		s.add(field, "is a comment that sets nothing", remedy)
	case m[2] != "":
		s.warn(field, "is a comment that sets nothing", remedy)
	}
}

// strayComments records a mistake for #hourbell: comments with no line below
// them.
func (s *scan) strayComments() {
	if len(s.above) > 0 {
		s.addAt(s.above[0].line, "#"+lineComment, "stands above no line", "put it right above the line it is for, or remove it")
	}
	s.above = nil
}

// settings adds the pairs of a comment to the pairs before it.
func (s *scan) settings(to settings, text string, known []string) settings {
	pairs, problem := parsePairs(text)
	if problem != "" || len(pairs) == 0 {
		if problem == "" {
			problem = "sets nothing"
		}
		s.add("#"+lineComment, problem, `write key=value, or key="several words"`)
		return to
	}
	for _, p := range pairs {
		p.line = s.line
		if s.checkKey(p, to, known) {
			to = append(to, p)
		}
	}
	return to
}

// checkKey refuses a pair that is not allowed at this place, or whose value is
// invalid.
func (s *scan) checkKey(p pair, before settings, known []string) bool {
	label := shown(p.key)
	first, twice := before.find(p.key)
	instead, ofLine := ofLines[p.key]
	switch {
	case twice && !slices.Contains(declared.HookKeys(), p.key):
		s.add(label, fmt.Sprintf("is given twice, first in line %d", first.line), "remove one of them")
	case ofLine:
		s.add(label, "belongs to the line itself", instead)
	case !slices.Contains(known, p.key):
		s.add(label, "is not a key here"+declared.Suggest(p.key, known), "use "+strings.Join(known, ", "))
	default:
		return s.checkValue(p)
	}
	return false
}

// ofLines are the keys of a schedule file that crontabs write in another way.
var ofLines = map[string]string{
	"cron": "write the rule in the line", "every": "write a rule in the line", "at": "write a rule in the line",
	"tz": "write CRON_TZ=ZONE above the line", "env": "write NAME=value above the line",
	"command": "write it in the line", "shell": "write it in the line", "stdin": "write it after a % in the line",
	"kind": "use a schedule file (YAML)", "args": "use a schedule file (YAML)", "base": "use a schedule file (YAML)",
	"schedules": "use a schedule file (YAML)", "groups": "use a schedule file (YAML)",
}

// lineKeys are the keys that a comment may set for a line. A user's crontab
// that was read as such (Reader.User) may not name another user, and not another owner of the
// file, because its author has the permissions of that user
// only. The crontab of a host may not name another place or owner.
func (s *scan) lineKeys() []string {
	ofSchedule := declared.KeyNames()
	if s.Host != "" {
		ofSchedule = slices.DeleteFunc(ofSchedule, func(key string) bool { return key == declared.PlaceKey })
	}
	keys := slices.Concat([]string{"name"}, ofSchedule, declared.HookKeys(), []string{"dir", "detached"})
	if s.Form == User && s.User == "" {
		keys = append(keys, "user")
	}
	return keys
}

// fileKeys are the keys that a comment may set for all lines.
func (s *scan) fileKeys() []string {
	keys := append([]string{"revision"}, s.lineKeys()[1:]...) // without "name"
	if s.User == "" && s.Host == "" {
		keys = append(keys, "owner")
	}
	return keys
}

// checkValue tries a value by itself, so that a mistake is recorded once, with
// the line of the comment.
func (s *scan) checkValue(p pair) bool {
	var err error
	switch p.key {
	case "name", "owner":
		err = errors.Join(check.Name(p.key, p.value), s.checkPrefix(p))
	case "revision":
		if _, ok := declared.Number(p.value, 1, math.MaxInt64); !ok {
			err = &check.FieldError{Field: p.key, Problem: fmt.Sprintf("%q is not a number in the allowed range",
				declared.Label(p.value, 60)), Remedy: declared.NumberRemedy(1, math.MaxInt64)}
		}
	default:
		err = s.apply(p, &hourbell.Schedule{}, &kinds.Command{}, declared.HookSet{})
	}
	for _, f := range declared.Fields(err) {
		if f.Name != p.key {
			f.Name = p.key // report the key of the hook, not a field within the hook
		}
		s.add(f.Title(), f.Problem, f.Remedy)
	}
	return err == nil
}

// checkPrefix requires that the names set in a user's crontab, or in the crontab of
// a host, begin with the prefix of the user and the host; other names could replace
// the schedules of others.
func (s *scan) checkPrefix(p pair) error {
	prefix := s.file.Owner + ":"
	if p.key != "name" || s.User == "" && s.Host == "" || strings.HasPrefix(p.value, prefix) {
		return nil
	}
	return &check.FieldError{
		Field: p.key, Value: shown(p.value), Problem: fmt.Sprintf("does not begin with %q, as the names of this crontab's lines do", prefix),
		Remedy: "put that before it",
	}
}

// apply sets the field that a pair names.
func (s *scan) apply(p pair, schedule *hourbell.Schedule, command *kinds.Command, hooks declared.HookSet) error {
	if key, found := declared.FindKey(p.key); found {
		return key.Set(schedule, p.value)
	}
	if slices.Contains(declared.HookKeys(), p.key) {
		hook, err := declared.ParseHook(p.value, s.User)
		hooks.Add(p.key, hook)
		return err
	}
	ok := p.value != ""
	switch p.key {
	case "dir":
		command.Dir = p.value
	case "user":
		command.User = p.value
	case "detached":
		command.Detached, ok = declared.ParseDetached(p.value)
		if !ok {
			return &check.FieldError{Field: p.key, Problem: fmt.Sprintf("%q is unknown", declared.Label(p.value, 60)), Remedy: "use end or keep"}
		}
	}
	if !ok {
		return &check.FieldError{Field: p.key, Problem: "is empty", Remedy: "write a value, or leave the key out"}
	}
	return nil
}

// ofFile reads the pairs that concern the file and not its lines.
func (s *scan) ofFile(pairs settings) {
	if p, given := pairs.find("owner"); given {
		s.file.Owner = p.value
		s.names.file = declared.Label(p.value, 120) // distinguishes two files of one base name
	}
	if p, given := pairs.find("revision"); given {
		s.file.Revision, _ = declared.Number(p.value, 1, math.MaxInt64) // the value was checked before
	}
}

// parsePairs reads key=value pairs, separated by blanks, with quotes as in a
// shell: single quotes keep every byte, double quotes every byte except a
// backslash before " or \, and without quotes a backslash keeps the byte after
// it.
func parsePairs(text string) (pairs []pair, problem string) {
	for text = strings.Trim(text, blanks); text != ""; text = strings.TrimLeft(text, blanks) {
		word, rest, closed := shellWord(text)
		if !closed {
			return nil, "has a quote that is not closed"
		}
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" {
			return nil, notPair(pairs, word)
		}
		pairs = append(pairs, pair{key: key, value: value})
		text = rest
	}
	return pairs, ""
}

// notPair returns what is wrong with a word that is not a pair. A word after a
// pair probably belongs to the pair's value, which may be secret, so it is not
// shown.
func notPair(before []pair, word string) string {
	if len(before) > 0 {
		return fmt.Sprintf("has a word after %s= that is not key=value", shown(before[len(before)-1].key))
	}
	return fmt.Sprintf("has %q, which is not key=value", shown(word))
}

// shellWord returns the first word, without its quotes.
func shellWord(text string) (word, rest string, closed bool) {
	var out strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t", c) >= 0:
			return out.String(), text[i:], true
		case quote == 0 && strings.IndexByte(`"'`, c) >= 0:
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && escapes(text[i+1:], quote):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), "", quote == 0
}

// escapes reports whether a backslash before a text, within quotes (0: none), escapes the first byte of the text.
func escapes(text string, quote byte) bool {
	if text == "" || quote == '\'' {
		return false
	}
	return quote == 0 || text[0] == '"' || text[0] == '\\'
}
