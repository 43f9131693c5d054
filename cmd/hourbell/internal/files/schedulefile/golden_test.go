package schedulefile

import (
	"testing"

	"github.com/hourbell/hourbell/internal/declared/declaredtest"
)

func TestMistakes(t *testing.T) {
	declaredtest.Mistakes(t, "testdata/mistakes.txt", "hours.yaml", Read)
}

func TestWarnings(t *testing.T) {
	declaredtest.Warnings(t, "testdata/warnings.txt", "hours.yaml", Read)
}
