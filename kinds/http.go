package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/supervise"
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
	if u, err := url.Parse(h.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, &check.FieldError{Field: "url", Problem: "is not an http or https URL", Remedy: "write it in full, as in https://example.org/hook"})
	}
	if h.Method != "" && !slices.Contains(httpMethods, h.Method) {
		errs = append(errs, &check.FieldError{Field: "method", Value: shortened(h.Method), Problem: "is unknown", Remedy: "use " + strings.Join(httpMethods, ", ")})
	}
	for _, name := range slices.Sorted(maps.Keys(h.Header)) {
		if name == "" || strings.ContainsFunc(name, notToken) || strings.ContainsAny(h.Header[name], "\r\n\x00") {
			errs = append(errs, &check.FieldError{Field: "header", Value: shortened(name), Problem: "cannot be sent", Remedy: "use a name of letters, digits and -, and a value on one line"})
		}
	}
	return errors.Join(append(errs, checkUTF8("body", h.Body))...)
}

func notToken(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func shortened(text string) string { return text[:min(len(text), 40)] }

// HTTPWorker makes requests. The zero value is ready, and safe for concurrent
// use.
//
// A request has the headers Hourbell-Job, Hourbell-Attempt, Hourbell-Token (the
// fencing token) and, for a job of a slot, Hourbell-Slot (RFC 3339 in UTC). A
// response status of 200 to 299 completes the job. 408, 425, 429 and 500 and
// above fail the attempt, and the job is tried again. All other statuses fail
// the job without a retry; redirects are among them, because following a
// redirect would drop the body. The last 64 KiB of the response body are stored
// as the attempt's output.
type HTTPWorker struct {
	// Client makes the requests; nil means a client that follows the proxy
	// settings of the environment. Its CheckRedirect is not used.
	Client *http.Client
}

// Work makes the job's request; it is a hourbell.Handler.
func (w HTTPWorker) Work(ctx context.Context, job *hourbell.JobRow) error {
	h, err := DecodeHTTP(job.RawArgs)
	if err != nil {
		return hourbell.Fail(err)
	}
	req, err := h.request(ctx, job)
	if err != nil {
		return hourbell.Fail(err)
	}
	client := http.Client{Transport: http.DefaultTransport}
	if w.Client != nil {
		client = *w.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(req)
	if err != nil {
		return requestError(req, err)
	}
	defer answer.Body.Close()
	output := supervise.NewTail(outputLimit)
	_, err = io.Copy(output, answer.Body)
	job.SetOutput(output.Bytes())
	if failure := statusError(req, answer); failure != nil {
		return failure
	}
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", req.URL.Host, err)
	}
	return nil
}

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
	req.Header.Set("User-Agent", "hourbell/"+hourbell.Version)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Hourbell-Job", strconv.FormatInt(job.ID, 10))
	req.Header.Set("Hourbell-Attempt", strconv.Itoa(job.Attempt))
	req.Header.Set("Hourbell-Token", strconv.FormatInt(job.Token, 10))
	if !job.Slot.IsZero() {
		req.Header.Set("Hourbell-Slot", job.Slot.UTC().Format(time.RFC3339Nano))
	}
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
	return fmt.Errorf("%s to %s: %w", req.Method, req.URL.Host, err)
}

// statusError returns an error for a status outside 200 to 299, or nil.
func statusError(req *http.Request, answer *http.Response) error {
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		return nil
	}
	err := fmt.Errorf("%s to %s: answered %s", req.Method, req.URL.Host, answer.Status)
	switch code := answer.StatusCode; {
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		return err
	case code >= 300 && code < 400:
		return hourbell.Fail(fmt.Errorf("%w, a redirect, which is not followed; use the address it leads to", err))
	}
	return hourbell.Fail(err)
}

// encode writes a value as JSON in which <, > and & stay readable.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode args: %w", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
