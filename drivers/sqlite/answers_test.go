package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/answertest"
	"github.com/hourbell/hourbell/store"
)

func TestAnswers(t *testing.T) {
	answertest.Run(t, func(t *testing.T) store.Backend { return openFile(t, newFile(t)) })
}
