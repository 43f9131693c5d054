package plain

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fit makes text fit for logs and stores: valid UTF-8 without NUL, at most limit
// bytes long (at least 64). A longer text keeps its beginning and ends with its
// size, as in "… (52,428,800 bytes in all)". A text that was shortened before
// keeps the size that it names.
func Fit(text string, limit int) string {
	if len(text) <= limit && utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	end := sizeNamed(text)
	if end == "" {
		end = shortened + grouped(len(text)) + bytesInAll
	}
	beyond := len(text) > limit
	kept := strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), limit)], "\uFFFD"), "\x00", "\uFFFD")
	if !beyond && len(kept) <= limit {
		return kept
	}
	most := min(limit-len(end), len(kept))
	for most > 0 && most < len(kept) && !utf8.RuneStart(kept[most]) {
		most--
	}
	return kept[:most] + end
}

// The end of a shortened text, around its size.
const (
	shortened  = "… ("
	bytesInAll = " bytes in all)"
)

// sizeNamed returns the end of a text that Fit has shortened before, or nothing.
func sizeNamed(text string) string {
	begin := strings.LastIndex(text[max(0, len(text)-64):], shortened)
	if begin < 0 || !strings.HasSuffix(text, bytesInAll) {
		return ""
	}
	end := text[max(0, len(text)-64)+begin:]
	size := strings.TrimSuffix(strings.TrimPrefix(end, shortened), bytesInAll)
	if size == "" || strings.Trim(size, "0123456789,") != "" {
		return ""
	}
	return end
}

// grouped writes a number with a comma between groups of three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
