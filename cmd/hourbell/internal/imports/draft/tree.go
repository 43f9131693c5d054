package draft

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

// Mapping reads the keys of a mapping of a YAML file. Keys that were not read are named at its end.
type Mapping struct {
	draft *Draft
	node  *yamltree.Node
	path  string // before the names of keys in messages
	read  []string
}

// Mapping returns the reader of a value that should be a mapping; anything else is a mistake, except nil, which has no keys.
// The keys in ignored have no effect on schedules.
func (d *Draft) Mapping(node *yamltree.Node, path string, ignored ...string) *Mapping {
	if node != nil && node.Sort != yamltree.Mapping && node.Sort != yamltree.Null {
		d.Refuse(node.Line, path, "is "+node.Sort.String(), "write a mapping")
		node = nil
	}
	return &Mapping{draft: d, node: node, path: path, read: ignored}
}

// Fields returns the keys of the mapping.
func (m *Mapping) Fields() []yamltree.Field {
	if m.node == nil {
		return nil
	}
	return m.node.Fields
}

// Ignore names keys that have no effect on schedules.
func (m *Mapping) Ignore(keys ...string) { m.read = append(m.read, keys...) }

// Line returns the line of a key, or of the mapping if there is no such key.
func (m *Mapping) Line(key string) int {
	if f := m.node.Find(key); f != nil {
		return f.Line
	}
	if m.node != nil {
		return m.node.Line
	}
	return 0
}

// Path returns the name of a key in messages.
func (m *Mapping) Path(key string) string {
	if m.path == "" {
		return key
	}
	return m.path + "." + key
}

// Node returns the value of a key; nil if the key is not given, or has no value.
func (m *Mapping) Node(key string) *yamltree.Node {
	m.read = append(m.read, key)
	if n := m.node.Value(key); n != nil && n.Sort != yamltree.Null {
		return n
	}
	return nil
}

// Mapping returns the reader of the value of a key.
func (m *Mapping) Mapping(key string, ignored ...string) *Mapping {
	return m.draft.Mapping(m.Node(key), m.Path(key), ignored...)
}

// List returns the items of the value of a key.
func (m *Mapping) List(key string) []*yamltree.Node {
	n := m.Node(key)
	switch {
	case n == nil:
		return nil
	case n.Sort != yamltree.List:
		m.Refuse(key, "is "+n.Sort.String(), "write a list")
		return nil
	}
	return n.Items
}

// Text returns the single value of a key.
func (m *Mapping) Text(key string) string {
	n := m.Node(key)
	switch {
	case n == nil:
		return ""
	case n.Sort != yamltree.Scalar:
		m.Refuse(key, "is "+n.Sort.String(), "write a single value")
		return ""
	}
	return n.Text
}

// Texts returns the items of a list of single values.
func (m *Mapping) Texts(key string) []string {
	var texts []string
	for _, n := range m.List(key) {
		if n.Sort != yamltree.Scalar {
			m.Refuse(key, "has an item that is "+n.Sort.String(), "write single values")
			return nil
		}
		texts = append(texts, n.Text)
	}
	return texts
}

// Number returns the whole number of a key, not less than zero, and whether the key is given.
func (m *Mapping) Number(key string, most int) (n int, given bool) {
	text := m.Text(key)
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		m.Refuse(key, fmt.Sprintf("%q is not a whole number from 0 to %d", declared.Label(text, 60), most), "write such a number")
		return 0, false
	}
	return n, true
}

// Is reports whether the value of a key is this truth value.
func (m *Mapping) Is(key, text string) bool { return m.Text(key) == text }

// Refuse records a mistake about a key.
func (m *Mapping) Refuse(key, problem, remedy string) {
	m.draft.Refuse(m.Line(key), m.Path(key), problem, remedy)
}

// Warn records a warning about a key.
func (m *Mapping) Warn(key, problem, remedy string) {
	m.draft.Warn(m.Line(key), m.Path(key), problem, remedy)
}

// Leave warns about a key that has no equal, if it is given with another value than usual.
func (m *Mapping) Leave(key, usual, remedy string) {
	n := m.Node(key)
	if n != nil && (n.Sort != yamltree.Scalar || usual == "" || n.Text != usual) {
		m.Warn(key, NoEqual, remedy)
	}
}

// End warns about each key that was not read.
func (m *Mapping) End() {
	if m.node == nil {
		return
	}
	for _, f := range m.node.Fields {
		empty := f.Value.Sort == yamltree.Null || f.Value.Sort != yamltree.Scalar && len(f.Value.Items)+len(f.Value.Fields) == 0
		if !slices.Contains(m.read, f.Key) && !empty {
			m.draft.Warn(f.Line, m.Path(f.Key), NoEqual, "")
		}
	}
}
