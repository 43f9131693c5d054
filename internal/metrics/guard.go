package metrics

import "sync"

// guard bounds the number of values of a label: the first names keep their value, and
// further names have the value LeftOut.
type guard struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

// newGuard returns a guard that keeps the first most names; if most is 0, otherwise many.
func newGuard(most, otherwise int) *guard {
	if most <= 0 {
		most = otherwise
	}
	return &guard{most: most, known: map[string]bool{}}
}

func (g *guard) value(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.known[name]:
	case len(g.known) >= g.most:
		return LeftOut
	default:
		g.known[name] = true
	}
	return name
}
