package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestAnswers(t *testing.T) {
	clienttest.Answers(t, func(*testing.T) store.Backend { return memory.New() })
}
