package redact

import (
	"net/url"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ada:hunter2@h:5/db?sslmode=off": "postgres://ada@h:5/db",
		"https://x.example/hook?key=hunter2#top":    "https://x.example/hook",
		"https://:hunter2@x.example/":               "https://@x.example/",
		"redis://cache:6379":                        "redis://cache:6379",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := URL(u); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestSecretName(t *testing.T) {
	for _, name := range strings.Fields(`
		password PASSWORD Password passWord db_password DB_PASSWORD password1 password_hash new_password passwordConfirmation Passwords userPasswords
		pass smtp_pass dbpass passwd pwd passphrase passcode secret secrets clientSecret client-secret CLIENT_SECRET clientsecret secret_value
		token tokens accessToken access_token AccessTokens refreshtoken X-Auth-Token OAuth2Token JWTToken jwt bearer Bearer BEARER_TOKEN
		cookie Set-Cookie cookies credentials aws_credentials creds authorization Proxy-Authorization auth basic_auth signature X-Hub-Signature-256
		sig hmac dsn DSN databaseDsn connectionString connection_string apiKey api_key API-KEY APIKey X-Api-Key apikeys api.key accessKey
		secret_access_key privateKey ssh_key signingKey encryption_key sessionId session_id SESSIONID sessionIds csrf_token otp recovery_codes
		geheim_token пароль_secret api_key_base64 --password -pass`) {
		if !SecretName(name) {
			t.Errorf("%s is the name of a secret", name)
		}
	}
	for _, name := range strings.Fields(`
		PATH path paths passenger passengers passport compass bypass passed pass_rate password_policy token_count tokenizer secretary cookie_policy
		author authors authority signature_algorithm sign signal design key keys keyboard monkey public_key primary_key key_id id sessions session_length
		session dsnap bearing database database_url url to name count n host apis access private webhook hook 12 … - X-Request-Id credentialed`) {
		if SecretName(name) {
			t.Errorf("%s is not the name of a secret", name)
		}
	}
	if SecretName("") {
		t.Error("an empty name is not the name of a secret")
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ada:secret@h:5/db":                                   "postgres://ada:…@h:5/db",
		"postgres://ada:sec/ret@h:5/db":                                  "postgres://…@h:5/db",
		"postgres://ada:sec%zzret@h:5/db?sslmode=off":                    "postgres://ada:…@h:5/db?sslmode=off",
		"postgres://ada@h:5/db?password=secret":                          "postgres://ada@h:5/db?password=…",
		"mongodb://ada:se@cret@h1,h2/db":                                 "mongodb://ada:…@h1,h2/db",
		"redis://:secret@h":                                              "redis://:…@h",
		"https://ghp_A1b2C3d4E5f6G7h8I9@github.com/a/b":                  "https://…@github.com/a/b",
		"https://h:8080/a/b@2":                                           "https://h:8080/a/b@2",
		"https://hooks.slack.com/services/T0/B0/secret":                  "https://hooks.slack.com/…",
		"https://discord.com/api/webhooks/1/secret":                      "https://discord.com/api/webhooks/…",
		"https://x.webhook.office.com/webhookb2/secret":                  "https://x.webhook.office.com/…",
		"https://h.example/hook":                                         "https://h.example/hook",
		"https://hooks.slack.com/":                                       "https://hooks.slack.com/",
		"https://api.telegram.org/bot123:secret/sendMessage":             "https://api.telegram.org/…/sendMessage",
		"https://chat.googleapis.com/v1/spaces/A/messages?key=a&token=b": "https://chat.googleapis.com/v1/spaces/A/messages?key=…&token=…",
		"https://maker.ifttt.com/trigger/x/with/key/secret":              "https://maker.ifttt.com/trigger/x/with/key/…",
		"https://b.s3.example/o?X-Amz-Signature=ab&X-Amz-Date=1":         "https://b.s3.example/o?X-Amz-Signature=…&X-Amz-Date=1",
		"https://h/cb#access_token=secret":                               "https://h/cb#access_token=…",
		"https://h/p?page=2&q=token":                                     "https://h/p?page=2&q=token",
		"https://h/orders/3f2b8c1e-0000-4000-8000-000000000000":          "https://h/orders/3f2b8c1e-0000-4000-8000-000000000000",
		"https://h/d/AbCdEfGhIjKlMnOp12345678":                           "https://h/d/…",
		"Authorization: Bearer abcdefgh.ijk":                             "Authorization: Bearer …",
		"a basic idea, bearer of news":                                   "a basic idea, bearer of news",
		"no://":                                                          "no://",
		"":                                                               "",
	} {
		if got := Text(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if Text(want) != want {
			t.Errorf("%s: hidden twice it is %s", want, Text(want))
		}
		if Masked(want) != (want != text) {
			t.Errorf("%s: masked is %t", want, Masked(want))
		}
	}
}
