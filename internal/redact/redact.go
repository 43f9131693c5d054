// Package redact has the rules for showing values that may contain secrets: which names are names of secrets (SecretName), and what is
// hidden in texts (Text), in URLs and in JSON (Value). What is hidden in the arguments of a job is decided by kinds.Redact, which uses it.
package redact

import "net/url"

// Hidden replaces what may be a secret.
const Hidden = "…"

// URL returns a URL without its password, parameters and fragment: scheme, user,
// host and path.
func URL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}
