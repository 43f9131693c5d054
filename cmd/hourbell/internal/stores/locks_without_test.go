//go:build !lockstores

package stores

import (
	"errors"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/check"
)

func TestStoresThatAreNotBuilt(t *testing.T) {
	for _, url := range []string{"redis://:hunter2@127.0.0.1:1", "rediss://127.0.0.1:1", "mongodb://u:hunter2@127.0.0.1:1/db"} {
		l, err := ParseLocks(LockSpec{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Open(t.Context(), true)
		var field *check.FieldError
		if !errors.As(err, &field) || !strings.Contains(field.Remedy, "-tags lockstores") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want the remedy", url, err)
		}
	}
}
