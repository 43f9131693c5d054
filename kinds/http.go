package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/jsons"
)

// HTTPKind is the kind of the jobs that make an HTTP request.
const HTTPKind = "http"

// HTTP is the arguments of a job that makes an HTTP request.
type HTTP struct {
	// URL is the address: http or https.
	URL string `json:"url"`
	// Method is the request method; empty means POST.
	Method string `json:"method,omitempty"`
	// Header is added to the request. A body without a Content-Type header is
	// sent as JSON.
	Header map[string]string `json:"header,omitempty"`
	// Body is sent unchanged. The request of a hook without a body sends the
	// hook's event.
	Body string `json:"body,omitempty"`
	// Timeout bounds the request and its answer, which is then retried. 0: only
	// the job's timeout.
	Timeout Duration `json:"timeout,omitzero"`
	// Retry lists the statuses that fail the attempt, so that the job is tried
	// again: a status such as "429", a class such as "5xx", or a range such as
	// "500-504"; "none" alone for no status. Empty means 408, 425, 429 and 5xx.
	// Other statuses than these and 200 to 299 fail the job. A request without
	// an answer is always tried again.
	Retry []string `json:"retry,omitempty"`
	// Redirects is how many redirects are followed, at most 10; 0: a redirect
	// fails the job.
	Redirects int `json:"redirects,omitempty"`
}

// Kind returns HTTPKind.
func (HTTP) Kind() string { return HTTPKind }

// Encode returns the request as the arguments of a job; equal requests have
// equal bytes.
func (h HTTP) Encode() ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	return encode(h)
}

// DecodeHTTP reads the arguments of a job of this kind. It refuses unknown
// fields.
func DecodeHTTP(args []byte) (HTTP, error) {
	var h HTTP
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h); err != nil {
		return HTTP{}, &check.FieldError{
			Field: "args", Problem: "are not an HTTP request: " + strings.TrimPrefix(err.Error(), "json: "),
			Remedy: `write {"url":"https://…"}, with method, header and body if needed`,
		}
	}
	return h, h.Validate()
}

var httpMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// Validate reports everything that is wrong with the request, each as a
// *check.FieldError joined by errors.Join, or nil. The messages do not
// contain URL, header values or body, because they may be secret.
func (h HTTP) Validate() error {
	var errs []error
	if !isHTTP(h.URL) {
		errs = append(errs, &check.FieldError{Field: "url", Problem: "is not an http or https URL", Remedy: "write it in full, as in https://example.org/hook"})
	}
	if h.Method != "" && !slices.Contains(httpMethods, h.Method) {
		errs = append(errs, &check.FieldError{Field: "method", Value: shortened(h.Method), Problem: "is unknown", Remedy: "use " + strings.Join(httpMethods, ", ")})
	}
	for _, name := range slices.Sorted(maps.Keys(h.Header)) {
		errs = append(errs, checkHeader(name, h.Header[name])...)
	}
	if h.Timeout < 0 || time.Duration(h.Timeout) > hourbell.MaxDuration {
		errs = append(errs, &check.FieldError{
			Field: "timeout", Value: time.Duration(h.Timeout).String(),
			Problem: "is out of range", Remedy: "use a positive duration such as 30s, or leave it out",
		})
	}
	if h.Redirects < 0 || h.Redirects > maxRedirects {
		errs = append(errs, &check.FieldError{
			Field: "redirects", Value: strconv.Itoa(h.Redirects),
			Problem: "is out of range", Remedy: fmt.Sprintf("use 0 to %d", maxRedirects),
		})
	}
	_, err := parseStatuses(h.Retry)
	return errors.Join(append(errs, err, checkUTF8("body", h.Body))...)
}

// isHTTP reports whether a text is an http or https URL.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// checkHeader returns everything that is wrong with a header.
func checkHeader(name, value string) (errs []error) {
	if name == "" || strings.ContainsFunc(name, notToken) || strings.ContainsFunc(value, notValue) {
		errs = append(errs, &check.FieldError{
			Field: "header", Value: shortened(name), Problem: "cannot be sent",
			Remedy: "use a name of letters, digits and -, and a value on one line",
		})
	}
	if canonical := textproto.CanonicalMIMEHeaderKey(name); slices.Contains(framing, canonical) || strings.HasPrefix(canonical, "Hourbell-") {
		errs = append(errs, &check.FieldError{Field: "header", Value: shortened(name), Problem: "is set by Hourbell itself", Remedy: "remove it"})
	}
	return errs
}

// framing are the headers that belong to a connection or describe the length of
// the body.
var framing = []string{
	"Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// notValue reports whether a header's value must not have the character.
func notValue(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func notToken(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func shortened(text string) string { return text[:min(len(text), 40)] }

// HTTPWorker makes requests. The zero value is ready, and safe for concurrent
// use.
//
// A request has the headers Hourbell-Job, Hourbell-Attempt, Hourbell-Token (the
// fencing token), Hourbell-Slot for a job of a slot (RFC 3339 in UTC), and
// Idempotency-Key, which is made of the store and the job and so is the same for
// all attempts, unless the job has its own. A response status of 200 to 299
// completes the job; HTTP.Retry selects the statuses that are tried again. If
// such an answer has a Retry-After header, the next attempt begins after that
// time, from 1 s to 24 h; a date counts from the answer's Date header. With the
// status 429 or 503 such an answer spends no attempt, and the other jobs under the
// job's limits wait, too (hourbell.LimitedFor). Of the
// response body up to 16 MiB are read, and the last 64 KiB are stored as the
// attempt's output.
//
// A redirect is followed only if HTTP.Redirects allows it, never from https to
// http. To another scheme, host or port it carries neither the job's headers nor
// the headers that Hourbell adds, and a request with a body is not redirected there.
//
// A job that is not declared (see JobRow.Declared) reaches public addresses
// only: its URL is the choice of a user who can write to the store, who could
// otherwise call what only this node can reach, such as a database's port or a
// cloud's metadata service. The check is on the address of each connection, so
// that neither names, nor changes of names, nor redirects avoid it; settings
// for proxies are ignored. A declared job reaches every address, but a redirect
// to another scheme, host or port leads it to public addresses only.
type HTTPWorker struct {
	// Client makes the requests; nil means a client that follows the proxy
	// settings of the environment. Its CheckRedirect is not used. For jobs that
	// reach public addresses only, its Transport must be nil or an
	// *http.Transport; a copy of it with another dialer is used.
	Client *http.Client
	// Private lets every job reach every address.
	Private bool

	resolver *net.Resolver // for tests; nil: the system's
}

// Work makes the job's request; it is a hourbell.Handler.
func (w HTTPWorker) Work(ctx context.Context, job *hourbell.JobRow) error {
	h, err := DecodeHTTP(job.RawArgs)
	if err != nil {
		return hourbell.Fail(err)
	}
	if timeout := time.Duration(h.Timeout); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	req, err := h.request(ctx, job)
	if err != nil {
		return hourbell.Fail(err)
	}
	client, err := w.client(h, req, job)
	if err != nil {
		return hourbell.Fail(err)
	}
	answer, err := client.Do(req)
	if err != nil {
		return requestError(req, err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(job.Writer(), io.LimitReader(answer.Body, maxAnswer))
	if failure := h.statusError(req, answer); failure != nil {
		return failure
	}
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", req.URL.Host, err)
	}
	return nil
}

// maxAnswer is how many bytes of an answer's body are read.
const maxAnswer = 16 << 20

// client returns the client for the request of a job.
func (w HTTPWorker) client(h HTTP, req *http.Request, job *hourbell.JobRow) (http.Client, error) {
	var client http.Client
	if w.Client != nil {
		client = *w.Client
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.CheckRedirect = h.checkRedirect
	declared := job.Declared()
	if w.Private || declared && h.Redirects == 0 {
		return client, nil
	}
	public, err := publicOnly(client.Transport, w.resolver)
	if err != nil {
		return client, err
	}
	if declared {
		client.Transport = elsewhere{origin: origin(req.URL), there: client.Transport, public: public}
	} else {
		client.Transport = public
	}
	return client, nil
}

const userAgent = "hourbell/" + hourbell.Version

// request makes the request of a job.
func (h HTTP) request(ctx context.Context, job *hourbell.JobRow) (*http.Request, error) {
	method, body := h.Method, h.Body
	if method == "" {
		method = http.MethodPost
	}
	if body == "" {
		body = job.Headers[hourbell.HookHeader]
	}
	req, err := http.NewRequestWithContext(ctx, method, h.URL, strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made: its url is malformed")
	}
	req.Header.Set("User-Agent", userAgent)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Hourbell-Job", strconv.FormatInt(job.ID, 10))
	req.Header.Set("Hourbell-Attempt", strconv.Itoa(job.Attempt))
	req.Header.Set("Hourbell-Token", strconv.FormatInt(job.Token, 10))
	if !job.Slot.IsZero() {
		req.Header.Set("Hourbell-Slot", job.Slot.UTC().Format(time.RFC3339Nano))
	}
	req.Header.Set("Idempotency-Key", fmt.Sprintf("hourbell-%s-%d", job.StoreID(), job.ID))
	for name, value := range h.Header {
		req.Header[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	return req, nil
}

// requestError removes the URL except its host from the error, because the URL
// may contain a secret.
func requestError(req *http.Request, err error) error {
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	var refused *refusedError
	if errors.As(err, &refused) { // another attempt would be refused too
		return hourbell.Fail(fmt.Errorf("%s to %s: %w", req.Method, req.URL.Host, refused))
	}
	return fmt.Errorf("%s to %s: %w", req.Method, req.URL.Host, err)
}

// refusedError is a connection or a redirect that this package refuses.
type refusedError struct{ problem string }

func (e *refusedError) Error() string { return e.problem }

// encode writes a value as JSON in which <, > and & stay readable.
func encode(value any) ([]byte, error) {
	text, err := jsons.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("encode args: %w", err)
	}
	return text, nil
}
