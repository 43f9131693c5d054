package redis

import "strings"

// keys returns the key of the lock and the key of its state.
func (p *Provider) keys(name string) []string {
	key := p.base() + name
	return []string{key, stateKey(key)}
}

// base returns the prefix of all locks' keys.
func (p *Provider) base() string { return p.prefix + ":" + p.environment + ":" }

// stateBase is the prefix of all states' keys.
const stateBase = "hourbell:"

// stateKey returns a key in the same slot of a cluster as the lock's key. Redis
// hashes the text between the first { and the first } after it, or otherwise
// the whole key.
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

// nameOf returns the name of the lock that a key of either kind belongs to, if
// the key belongs to this provider's locks.
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

// globs escapes the characters with a meaning in a pattern.
var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// pattern matches the keys of both kinds of all locks of this provider, and
// possibly other keys.
func (p *Provider) pattern() string { return "*" + globs.Replace(p.base()) + "*" }
