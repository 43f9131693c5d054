package hourbell

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// Callbacks are the settings of callback URLs, by which services without a log-in answer jobs that wait; see JobRow.CallbackURL.
type Callbacks struct {
	// URL is where api.Callbacks answers, such as https://jobs.example.org/callbacks, as services reach it. Only nodes whose jobs
	// make callback URLs need it.
	URL string
	// Keys sign the URLs: random bytes, at least 32 each, which all nodes of the cluster share and keep secret. The first key
	// signs, and each key is accepted, so that a key can be replaced while URLs of the old key are still valid.
	Keys [][]byte
}

// minCallbackKey is the least length of a key in bytes.
const minCallbackKey = 32

// Validate returns every mistake in the settings; New does the same.
func (c Callbacks) Validate() error {
	if len(c.Keys) == 0 && c.URL == "" {
		return nil
	}
	var errs []error
	for i, key := range c.Keys {
		if len(key) < minCallbackKey {
			errs = append(errs, &check.FieldError{
				Field: fmt.Sprintf("callback key %d", i+1), Problem: fmt.Sprintf("is shorter than %d bytes", minCallbackKey),
				Remedy: "make a key of random bytes: openssl rand -hex 32",
			})
		}
	}
	if len(c.Keys) == 0 {
		errs = append(errs, &check.FieldError{Field: "callback keys", Problem: "are missing", Remedy: "give the key that all nodes share"})
	}
	if c.URL != "" && !isPlainURL(c.URL) {
		errs = append(errs, &check.FieldError{
			Field: "callback URL", Value: check.Shorten(c.URL), Problem: "is not an address of http or https without a query",
			Remedy: "write where the callbacks are answered, such as https://jobs.example.org/callbacks",
		})
	}
	return check.Join(errs...)
}

// isPlainURL reports whether a text is an http or https URL without a user, a query and a fragment.
func isPlainURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// callback is what a callback URL is for.
type callback struct {
	job     int64
	created time.Time // of the job: a store gives the number of a deleted job again, after a restored backup for example
	until   time.Time // when the URL expires, by the store's clock
	name    string    // of the signal
}

// The parts of a token: a version, the numbers of a callback, its name, and the code that authenticates all of these.
const (
	callbackVersion = 1
	callbackHead    = 1 + 3*8
	callbackCode    = 16 // bytes of HMAC-SHA-256
)

// token returns the last part of a callback URL.
func (c callback) token(key []byte) string {
	text := []byte{callbackVersion}
	for _, n := range []int64{c.job, c.created.UnixMicro(), c.until.UnixMicro()} {
		text = binary.BigEndian.AppendUint64(text, uint64(n))
	}
	text = append(text, c.name...)
	return base64.RawURLEncoding.EncodeToString(append(text, codeOf(key, text)...))
}

// codeOf authenticates the text of a token.
func codeOf(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("hourbell callback\n"))
	mac.Write(text)
	return mac.Sum(nil)[:callbackCode]
}

// readCallback returns what a token is for, if one of the keys has signed the token.
func readCallback(keys [][]byte, token string) (callback, error) {
	all, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(all) <= callbackHead+callbackCode || all[0] != callbackVersion {
		return callback{}, ErrNoCallback
	}
	text, code := all[:len(all)-callbackCode], all[len(all)-callbackCode:]
	for _, key := range keys {
		if hmac.Equal(code, codeOf(key, text)) {
			number := func(i int) int64 { return int64(binary.BigEndian.Uint64(text[1+8*i:])) }
			return callback{number(0), time.UnixMicro(number(1)), time.UnixMicro(number(2)), string(text[callbackHead:])}, nil
		}
	}
	return callback{}, ErrNoCallback
}

// CallbackURL returns a URL by which a service without a log-in, such as a payment provider, gives the job the signal with this name
// once: with POST, and the value of the signal as its body. The URL is signed, names the job and the signal, and expires after valid
// (from 1 s to MaxDuration, by the store's clock). Who has the URL can answer, so send it only to the service, in a step:
//
//	_, err := hourbell.Step(ctx, job, "ask for payment", func(ctx context.Context) (bool, error) {
//		url, err := job.CallbackURL(ctx, "payment", 3*24*time.Hour)
//		if err != nil {
//			return false, err
//		}
//		return true, provider.Request(ctx, amount, url)
//	})
//	if err != nil {
//		return err
//	}
//	payment, err := hourbell.Wait[Payment](ctx, job, "payment", 3*24*time.Hour)
//
// Config.Callbacks has to have the URL and a key; api.Callbacks answers there. In a worker of a test,
// which has no claim, the URL leads nowhere.
func (j *JobRow) CallbackURL(ctx context.Context, name string, valid time.Duration) (string, error) {
	err := check.Join(check.Name("signal", name), between("validity", valid, time.Second, MaxDuration))
	if err == nil && j.running().ID == 0 {
		return "https://callbacks.invalid/" + url.PathEscape(name), nil
	}
	client, _ := j.running().Client.(*Client)
	if err == nil && (client == nil || client.cfg.Callbacks.URL == "") {
		err = errors.New("the client has no callbacks; set Config.Callbacks, with a URL and a key")
	}
	if err != nil {
		return "", fmt.Errorf("make a callback URL: %w", err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("make a callback URL: %w", err)
	}
	with := client.cfg.Callbacks
	token := callback{j.ID, j.CreatedAt, now.Add(valid), name}.token(with.Keys[0])
	return strings.TrimSuffix(with.URL, "/") + "/" + token, nil
}

// Answer sends the signal of a callback URL, whose last part is token; see Send for value and for errors, and JobRow.CallbackURL. A
// token that no key of Config.Callbacks has signed is ErrNoCallback, and a token that has expired is ErrExpired, as is a token of a
// job that is not kept any more.
func (s *SignalService) Answer(ctx context.Context, token string, value any) error {
	what, err := readCallback(s.client.cfg.Callbacks.Keys, token)
	if err != nil {
		return fmt.Errorf("answer a callback: %w", err)
	}
	if err := s.checkCallback(ctx, what); err != nil {
		return fmt.Errorf("answer the callback %q of job %d: %w", what.name, what.job, err)
	}
	return s.Send(ctx, what.job, what.name, value)
}

// checkCallback returns why a callback cannot be answered any more.
func (s *SignalService) checkCallback(ctx context.Context, what callback) error {
	now, err := s.client.Now(ctx)
	if err != nil {
		return err
	}
	if !now.Before(what.until) {
		return fmt.Errorf("%w at %s", ErrExpired, what.until.UTC().Format(time.RFC3339))
	}
	jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{what.job}}, Limit: 1})
	if err == nil && (len(jobs) == 0 || !jobs[0].CreatedAt.Equal(what.created)) {
		err = fmt.Errorf("%w: the job is not kept any more", ErrExpired)
	}
	return err
}
