package schedulefile

import (
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

const everyKey = "every"

// place reads where the jobs of a schedule run: a text as hourbell.ParsePlace reads it, or a mapping with one key, such as
// {label: role=db} or {every: {label: role=db}}.
func (e *entry) place(key declared.Key, s *hourbell.Schedule) {
	f := e.find(key.Name)
	if f == nil || f.Value.Sort != yamltree.Mapping {
		e.set(key, s)
		return
	}
	one := &entry{reader: e.reader, node: f.Value, label: e.label + ": " + key.Name}
	one.checkKeys(placeKeys)
	one.exactlyOne(key.Name, "where it runs", placeKeys.names()...)
	for _, name := range placeKeys.names() {
		every := one.find(name)
		switch {
		case every == nil:
		case name == everyKey && every.Value.Sort == yamltree.Mapping:
			each := &entry{reader: e.reader, node: every.Value, label: one.label + ": " + everyKey}
			each.checkKeys(everyKeys)
			each.exactlyOne(everyKey, "which hosts", everyKeys.names()...)
			if each.has("label") {
				each.addFields(key.Set(s, everyKey+":label="+each.text("label")))
			}
		case name == everyKey:
			one.add(everyKey, "is not a mapping", "write on: every, or on: {every: {label: KEY=VALUE}}")
		default:
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
	p, each := &pairs{}, &pairs{}
	if sort, of, every := strings.Cut(name, ":"); every {
		each.text(of, value)
		p.add(sort, each.String())
		return p.String()
	}
	p.text(name, value)
	return p.String()
}
