package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/controltest"
	"github.com/hourbell/hourbell/store"
)

func TestControl(t *testing.T) {
	controltest.Run(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}
