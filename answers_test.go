package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
)

func TestAnswers(t *testing.T) { clienttest.Answers(t, nil) }
