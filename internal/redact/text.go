package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	// aURL matches a URL in a text.
	aURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	// aProof matches what a header Authorization has.
	aProof = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`)
	// aMask matches what Text, or kinds.Redact in an assignment, has hidden.
	aMask = regexp.MustCompile(`(?i)://\S*` + Hidden + `|[A-Za-z_-]=` + Hidden + `|\b(bearer|basic) ` + Hidden)
)

// Text hides the secrets that a text shows by their form: in URLs, and after the words Bearer and Basic.
func Text(text string) string {
	if strings.Contains(text, "://") {
		text = aURL.ReplaceAllStringFunc(text, inURL)
	}
	if len(text) > len("basic ") {
		text = aProof.ReplaceAllString(text, "$1 "+Hidden)
	}
	return text
}

// Masked reports whether something is hidden in a text, as Text and kinds.Redact do.
func Masked(text string) bool { return text == Hidden || aMask.MatchString(text) }

// inURL hides the password of a URL, the values of parameters whose names are names of secrets, what follows a segment such as webhooks in the path
// or the host of webhooks, and what looks like a random text.
func inURL(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, tail := rest[:end], rest[end:]
	if at := strings.LastIndex(rest, "@"); !strings.Contains(host, "@") && at > 0 && unescaped(host) {
		return scheme + "://" + Hidden + rest[at:] // a password with a slash that is not escaped
	}
	if at := strings.LastIndex(host, "@"); at >= 0 {
		name, password, _ := strings.Cut(host[:at], ":")
		if password != "" {
			password = ":" + Hidden
		}
		if random(name) {
			name = Hidden
		}
		host = name + password + host[at:]
	}
	path, fragment, fragmented := strings.Cut(tail, "#")
	path, query, asks := strings.Cut(path, "?")
	shown := scheme + "://" + host + inPath(host, path)
	if asks {
		shown += "?" + inQuery(query)
	}
	if fragmented {
		shown += "#" + inQuery(fragment)
	}
	return shown
}

// webhook hides what follows the host of a URL, and in another text what Text hides.
func webhook(text string) string {
	shown := Text(text)
	scheme, rest, found := strings.Cut(shown, "://")
	if host, path, _ := strings.Cut(rest, "/"); found && path != "" {
		return scheme + "://" + host + "/" + Hidden
	}
	return shown
}

// unescaped reports whether what stands before the first slash of a URL cannot be a host with a port.
func unescaped(host string) bool {
	_, port, found := strings.Cut(host, ":")
	return found && strings.Trim(port, "0123456789") != ""
}

// inQuery hides the values of parameters.
func inQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, given := strings.Cut(pair, "=")
		words := wordsOf(name)
		secret := SecretName(name) || len(words) > 0 && slices.Contains([]string{"key", "code"}, words[len(words)-1])
		if given && value != "" && (secret || random(value)) {
			pairs[i] = name + "=" + Hidden
		}
	}
	return strings.Join(pairs, "&")
}

// inPath hides segments of a path.
func inPath(host, path string) string {
	if strings.Trim(path, "/") == "" {
		return path
	}
	if hooks(strings.FieldsFunc(host[strings.LastIndex(host, "@")+1:], func(r rune) bool { return r == '.' || r == ':' })...) {
		return "/" + Hidden
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		switch {
		case segment == "" || i == 0:
		case hooks(segments[i-1]):
			return strings.Join(append(segments[:i], Hidden), "/")
		case SecretName(segments[i-1]), segments[i-1] == "key", random(segment), bot(segment):
			segments[i] = Hidden
		}
	}
	return strings.Join(segments, "/")
}

// hooks reports whether one of the words means that secrets follow, with which callers make others do something.
func hooks(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(wordsOf(text), func(word string) bool {
			return slices.Contains([]string{"hook", "hooks", "webhook", "webhooks"}, word)
		})
	})
}

// bot reports whether a segment of a path is a bot of Telegram, as bot123:secret.
func bot(segment string) bool {
	name, secret, found := strings.Cut(strings.TrimPrefix(segment, "bot"), ":")
	return found && secret != "" && name != "" && strings.Trim(name, "0123456789") == ""
}

// random reports whether a word looks as if a computer had made it from random bytes: it is long, and has digits and letters of both cases.
func random(word string) bool {
	var digit, small, capital bool
	for _, r := range word {
		digit = digit || unicode.IsDigit(r)
		small = small || unicode.IsLower(r)
		capital = capital || unicode.IsUpper(r)
		if !inToken(r) {
			return false
		}
	}
	return len(word) >= 20 && digit && small && capital
}

// inToken reports whether a character can be in a token.
func inToken(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) || strings.ContainsRune("-_.~%", r)
}
