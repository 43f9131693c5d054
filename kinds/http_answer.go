package kinds

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

// The range of the delay that a Retry-After header can ask for.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// statuses is a range of HTTP statuses.
type statuses struct{ first, last int }

// defaultStatuses are tried again if HTTP.Retry is empty.
var defaultStatuses = []statuses{{408, 408}, {425, 425}, {429, 429}, {500, 599}}

var (
	classText = regexp.MustCompile(`^[345]xx$`)
	rangeText = regexp.MustCompile(`^([345][0-9][0-9])(?:-([345][0-9][0-9]))?$`)
)

// parseStatuses reads HTTP.Retry.
func parseStatuses(texts []string) ([]statuses, error) {
	if len(texts) == 0 {
		return defaultStatuses, nil
	}
	if len(texts) == 1 && texts[0] == "none" {
		return nil, nil
	}
	ranges := make([]statuses, 0, len(texts))
	for _, text := range texts {
		parts := rangeText.FindStringSubmatch(text)
		switch {
		case classText.MatchString(text):
			first := int(text[0]-'0') * 100
			ranges = append(ranges, statuses{first, first + 99})
		case parts != nil && parts[2] == "":
			one, _ := strconv.Atoi(parts[1])
			ranges = append(ranges, statuses{one, one})
		case parts != nil && parts[1] <= parts[2]:
			first, _ := strconv.Atoi(parts[1])
			last, _ := strconv.Atoi(parts[2])
			ranges = append(ranges, statuses{first, last})
		default:
			return nil, &check.FieldError{
				Field: "retry", Value: shortened(text), Problem: "is not a status",
				Remedy: "write statuses from 300 to 599 such as 429, 5xx or 500-504, or none alone",
			}
		}
	}
	return ranges, nil
}

// statusError returns an error for a status outside 200 to 299, or nil.
func (h HTTP) statusError(req *http.Request, answer *http.Response) error {
	status := answer.StatusCode
	if status >= 200 && status < 300 {
		return nil
	}
	err := fmt.Errorf("%s to %s: answered %s", req.Method, req.URL.Host, answer.Status)
	switch {
	case h.retries(status):
		return retryError(answer, err)
	case status >= 300 && status < 400 && h.Redirects == 0:
		return hourbell.Fail(fmt.Errorf("%w, a redirect, which is not followed; use the address it leads to, or allow redirects", err))
	}
	return hourbell.Fail(err)
}

// retries reports whether a request is repeated after a status.
func (h HTTP) retries(status int) bool {
	again, _ := parseStatuses(h.Retry) // it was validated
	return slices.ContainsFunc(again, func(r statuses) bool { return r.first <= status && status <= r.last })
}

// retryError returns the error of a job that is tried again after an answer, when the answer says, if it does.
func retryError(answer *http.Response, err error) error {
	delay, ok := retryAfter(answer.Header)
	limited := answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable
	switch {
	case ok && limited:
		return hourbell.LimitedFor(delay)
	case ok:
		return hourbell.RetryIn(delay, err)
	}
	return err
}

// retryAfter returns the delay that an answer asks for. A date counts from the
// answer's own date, because the clocks of two machines may differ.
func retryAfter(header http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return max(time.Duration(seconds)*time.Second, minRetryAfter), true
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0, false
	}
	return min(max(until.Sub(now), minRetryAfter), maxRetryAfter), true
}
