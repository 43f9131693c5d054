package schedulefile

import (
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/declared/declaredtest"
)

func TestMistakes(t *testing.T) { declaredtest.Mistakes(t, "hours.yaml", Read) }
