package crontab

import (
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/declared/declaredtest"
)

func TestMistakes(t *testing.T) { declaredtest.Mistakes(t, "backup.cron", Read) }
