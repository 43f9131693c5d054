package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell/internal/answertest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestAnswers(t *testing.T) {
	answertest.Run(t, func(*testing.T) store.Backend { return memory.New() })
}
