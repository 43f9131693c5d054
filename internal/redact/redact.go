// Package redact has the one rule for showing a URL that may contain secrets. What
// is hidden in the arguments of a job is decided by kinds.Redact, which uses it.
package redact

import "net/url"

// URL returns a URL without its password, parameters and fragment: scheme, user,
// host and path.
func URL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}
