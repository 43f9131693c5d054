package schedulefile

import (
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
)

// place reads where the jobs of a schedule run: a text as hourbell.ParsePlace reads it, or a mapping with one key.
func (e *entry) place(key declared.Key, s *hourbell.Schedule) {
	f := e.find(key.Name)
	if f == nil || f.value.sort != mapping {
		e.set(key, s)
		return
	}
	one := &entry{reader: e.reader, node: f.value, label: e.label + ": " + key.Name}
	one.checkKeys(placeKeys)
	one.exactlyOne(key.Name, "where it runs", placeKeys.names()...)
	for _, name := range placeKeys.names() {
		if one.has(name) {
			one.addFields(key.Set(s, name+"="+one.text(name)))
		}
	}
}

// placeText returns a place as a mapping, or as a text if it is a word.
func placeText(text string) string {
	name, value, pair := strings.Cut(text, "=")
	if !pair {
		return scalarText(text)
	}
	p := &pairs{}
	p.text(name, value)
	return p.String()
}
