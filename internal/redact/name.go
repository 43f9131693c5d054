package redact

import (
	"slices"
	"strings"
	"unicode"
)

// secrets are the words at the end of a name of a secret, or several words written as one.
var secrets = strings.Fields(`
	password passwd passphrase passcode pass pwd pw secret token jwt cookie credential cred authorization auth bearer signature sig hmac
	dsn otp totp psk csrf xsrf cvv cvc mnemonic seedphrase keyphrase pincode
	apikey accesskey privatekey secretkey signingkey encryptionkey sharedkey accountkey masterkey authkey sessionkey sshkey servicekey
	licensekey deploykey storagekey sessionid connectionstring connstring connstr
	accesscode authcode verificationcode recoverycode backupcode securitycode`)

// inWords are secrets that also end a longer word, as in clientsecret.
var inWords = strings.Fields(`password passwd passphrase passcode pass secret token credential apikey accesskey privatekey secretkey sessionid`)

// ordinary are words that end as secrets do.
var ordinary = strings.Fields(`compass bypass trespass overpass underpass surpass encompass`)

// qualifiers may follow the name of a secret, which the whole is then, too. Digits are left out before, so that b and base are b64 and base64.
var qualifiers = strings.Fields(`value hash text raw plain plaintext old new current previous confirm confirmation repeat again encrypted encoded
	base b hex`)

// SecretName reports whether the value of a field, an option, a variable or a header with a name may be a secret. It looks at the last words of the
// name, in any case: DB_PASSWORD, clientSecret, X-Api-Key, sessionId and tokens are names of secrets; token_count, PATH and passenger are not.
func SecretName(name string) bool {
	secret, _ := secretName(name)
	return secret
}

// secretName is SecretName, and reports whether the name is a plural.
func secretName(name string) (secret, plural bool) {
	words := wordsOf(name)
	for len(words) > 1 && slices.Contains(qualifiers, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	joined := ""
	for i := len(words) - 1; i >= max(0, len(words)-3); i-- {
		joined = words[i] + joined
		singular := strings.TrimSuffix(joined, "s")
		switch {
		case slices.Contains(secrets, joined):
			return true, false
		case slices.Contains(secrets, singular):
			return true, true
		case i == len(words)-1 && endsAsSecret(joined):
			return true, false
		case i == len(words)-1 && endsAsSecret(singular):
			return true, true
		}
	}
	return false, false
}

func endsAsSecret(word string) bool {
	return !slices.Contains(ordinary, word) && slices.ContainsFunc(inWords, func(end string) bool { return strings.HasSuffix(word, end) })
}

// wordsOf splits a name into words in small letters: at all characters that are no letters, and where a capital letter begins a word,
// as in clientSecret and APIKey.
func wordsOf(name string) (words []string) {
	runes := []rune(name)
	begin := -1
	end := func(i int) {
		if begin >= 0 {
			words = append(words, strings.ToLower(string(runes[begin:i])))
		}
		begin = -1
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			continue
		case begin >= 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
		if begin < 0 {
			begin = i
		}
	}
	end(len(runes))
	return words
}

// plainVariables are variables of the environment that have no secrets.
var plainVariables = strings.Fields(`PATH HOME LANG LANGUAGE TZ CRON_TZ SHELL USER LOGNAME TERM TMPDIR PWD MAILTO MANPATH LD_LIBRARY_PATH NO_COLOR`)

// PlainVariable reports whether the value of a variable of the environment is shown: only variables that every system has are.
func PlainVariable(name string) bool {
	return slices.Contains(plainVariables, name) || strings.HasPrefix(name, "LC_")
}
