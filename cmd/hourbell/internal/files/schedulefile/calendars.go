package schedulefile

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// ReadCalendars reads only the calendars of the text of a schedule file, sorted
// by name; the file need not have schedules. Messages call the file name. The
// error is a *declared.FileError with every mistake.
func ReadCalendars(name string, text []byte) ([]hourbell.Calendar, error) {
	var errs declared.FileError
	if !declared.CheckText(name, text, &errs) {
		return nil, errs.Err()
	}
	root := yamltree.Parse(name, text, &errs)
	if root == nil {
		return nil, errs.Err()
	}
	m := &entry{reader: &reader{path: name, errs: &errs}, node: root}
	var calendars []hourbell.Calendar
	if m.isMapping("the file", "write calendars: and below it the name of each") {
		m.checkKeys(fileKeys)
		if !m.has("calendars") {
			m.add("calendars", "is missing", `write the name of each calendar and what it excludes, as in calendars: {holidays: {dates: ["12-25"]}}`)
		}
		for _, c := range m.calendars() {
			calendars = append(calendars, c)
		}
	}
	slices.SortFunc(calendars, func(a, b hourbell.Calendar) int { return strings.Compare(a.Name, b.Name) })
	return calendars, errs.Err()
}

// WriteCalendars returns a text that ReadCalendars reads as the same calendars.
func WriteCalendars(calendars ...hourbell.Calendar) []byte {
	var out bytes.Buffer
	out.WriteString("calendars:\n")
	for _, c := range calendars {
		fmt.Fprintf(&out, "  %s: %s\n", scalarText(c.Name), calendarText(c))
	}
	return out.Bytes()
}

// calendars reads the calendars that the file's schedules may name.
func (e *entry) calendars() map[string]hourbell.Calendar {
	f := e.find("calendars")
	switch {
	case f == nil:
		return nil
	case f.Value.Sort != yamltree.Mapping:
		e.add("calendars", "is "+f.Value.Sort.String(), `write the name of each calendar and what it excludes, as in holidays: {dates: ["12-25"]}`)
		return nil
	}
	calendars := map[string]hourbell.Calendar{}
	for _, c := range f.Value.Fields {
		one := &entry{reader: e.reader, node: c.Value, label: fmt.Sprintf("calendars %q", declared.Label(c.Key, 60))}
		if one.isMapping("", "write dates, weekdays, rules and tz as keys") {
			calendars[c.Key] = one.calendar(c.Key)
		}
	}
	return calendars
}

func (e *entry) calendar(name string) hourbell.Calendar {
	e.checkKeys(calendarKeys)
	c := hourbell.Calendar{Name: name, CalendarSpec: recur.CalendarSpec{
		Dates: e.words("dates"), Weekdays: e.words("weekdays"), Rules: e.exclusionRules(), Zone: e.properName("tz"),
	}}
	e.addFields(check.Name("calendars", name))
	e.addFields(c.CalendarSpec.Validate())
	return c
}

// words reads a list of texts, or a single text.
func (e *entry) words(key string) []string {
	f := e.find(key)
	switch {
	case f == nil:
		return nil
	case f.Value.Sort == yamltree.Scalar:
		return []string{f.Value.Text}
	case f.Value.Sort != yamltree.List:
		e.add(key, "is "+f.Value.Sort.String(), "write a list of texts")
		return nil
	}
	var words []string
	for _, item := range f.Value.Items {
		if item.Sort != yamltree.Scalar {
			e.addAt(item.Line, key, "holds "+item.Sort.String(), "write a list of texts")
			continue
		}
		words = append(words, item.Text)
	}
	return words
}

// exclusionRules reads the rules of a calendar.
func (e *entry) exclusionRules() []recur.Spec {
	f := e.find("rules")
	switch {
	case f == nil:
		return nil
	case f.Value.Sort != yamltree.List:
		e.add("rules", "is "+f.Value.Sort.String(), `write a list, as in [{cron: "* 0-6 * * *"}]`)
		return nil
	}
	var rules []recur.Spec
	for i, item := range f.Value.Items {
		one := &entry{reader: e.reader, node: item, label: fmt.Sprintf("%s: rules[%d]", e.label, i)}
		if one.isMapping("", "write cron, on_calendar, every or at, and tz as keys") {
			one.checkKeys(exclusionRuleKeys)
			rule := one.rule()
			if rule.Dialect == "" {
				rule.Dialect = one.properName("dialect")
			}
			rule.Start, rule.Stop, rule.Gap, rule.Fold = one.properName("start"), one.properName("stop"), one.properName("gap"), one.properName("fold")
			rules = append(rules, rule)
		}
	}
	return rules
}

// exclude reads the exclusions of a schedule: the file's own calendars by name,
// and all other texts as recur.ParseExclude reads them.
func (e *entry) exclude() (calendars []hourbell.Calendar) {
	var texts []string
	for _, text := range e.words(declared.ExcludeKey) {
		if c, found := e.known[text]; found {
			calendars = append(calendars, c)
		} else {
			texts = append(texts, text)
		}
	}
	more, err := hourbell.ParseExclude(texts...)
	e.addFields(err)
	return append(calendars, more...)
}

// calendars writes the calendars that schedules exclude, each once, except
// exclusions that can be written in the schedules themselves.
func (w *writer) calendars(entries []declared.Entry) error {
	known := map[string]hourbell.Calendar{}
	for _, entry := range entries {
		for _, c := range entry.Exclude {
			if _, said := hourbell.ExcludeTexts([]hourbell.Calendar{c}); said {
				continue
			}
			if before, twice := known[c.Name]; twice && !reflect.DeepEqual(before, c) {
				return fmt.Errorf("write calendar %q: schedules use different calendars of this name", c.Name)
			}
			known[c.Name] = c
		}
	}
	if len(known) == 0 {
		return nil
	}
	w.out.WriteString("calendars:\n")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&w.out, "  %s: %s\n", scalarText(name), calendarText(known[name]))
	}
	return nil
}

func calendarText(c hourbell.Calendar) string {
	p := &pairs{}
	if len(c.Dates) > 0 {
		p.add("dates", listText(c.Dates))
	}
	if len(c.Weekdays) > 0 {
		p.add("weekdays", listText(c.Weekdays))
	}
	var rules []string
	for _, r := range c.Rules {
		one := &pairs{}
		for i, value := range []string{r.Cron, "", r.Every, r.At, r.Zone, r.Dialect, r.Start, r.Stop, r.Gap, r.Fold} {
			one.text(exclusionRuleKeys[i].name, value) // a calendar event is cron with a dialect
		}
		rules = append(rules, one.String())
	}
	if len(rules) > 0 {
		p.add("rules", "["+strings.Join(rules, ", ")+"]")
	}
	p.text("tz", c.Zone)
	return p.String()
}
