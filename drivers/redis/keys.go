package redis

import "strings"

// keys returns the lock's key and the state's.
func (p *Provider) keys(name string) []string {
	key := p.base() + name
	return []string{key, stateKey(key)}
}

// base is what all locks' keys begin with.
func (p *Provider) base() string { return p.prefix + ":" + p.environment + ":" }

// stateBase is what all states' keys begin with.
const stateBase = "hourbell:"

// stateKey is in the same slot of a cluster as the lock's key. Redis hashes what
// stands between the first { and the first } after it, else the whole key.
func stateKey(key string) string {
	if tagged(key) {
		return stateBase + key
	}
	return stateBase + "{" + key + "}"
}

func tagged(key string) bool {
	_, after, found := strings.Cut(key, "{")
	return found && strings.Index(after, "}") > 0
}

// nameOf is the name of the lock that a key of either kind belongs to, if it is
// one of these locks.
func (p *Provider) nameOf(key string) (string, bool) {
	if state, ok := strings.CutPrefix(key, stateBase); ok {
		key = state
		if inner := strings.TrimSuffix(strings.TrimPrefix(state, "{"), "}"); stateKey(inner) == stateBase+state {
			key = inner
		}
	}
	name, ok := strings.CutPrefix(key, p.base())
	return name, ok && name != ""
}

// globs escapes what has a meaning in a pattern.
var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// pattern matches the keys of both kinds of all these locks, and perhaps others.
func (p *Provider) pattern() string { return "*" + globs.Replace(p.base()) + "*" }
