package event

import "github.com/hourbell/hourbell/internal/plain"

// What of a text goes into a log line: workers may return errors of any size.
const (
	logText  = 4 << 10
	logTrace = 16 << 10
)

// Text makes text fit for logs and stores: valid UTF-8 without NUL, at most limit
// bytes long (at least 64). A longer text keeps its beginning and ends with its
// size, as in "… (52,428,800 bytes in all)". A text that was shortened before
// keeps the size that it names.
func Text(text string, limit int) string { return plain.Fit(text, limit) }
