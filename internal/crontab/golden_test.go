package crontab

import (
	"testing"

	"github.com/hourbell/hourbell/internal/declared/declaredtest"
)

func TestMistakes(t *testing.T) {
	declaredtest.Mistakes(t, "testdata/mistakes.txt", "backup.cron", Reader{}.Read)
}

func TestSystemMistakes(t *testing.T) {
	declaredtest.Mistakes(t, "testdata/system.txt", "backup.cron", Reader{Form: System}.Read)
}

func TestWarnings(t *testing.T) {
	declaredtest.Warnings(t, "testdata/warnings.txt", "backup.cron", Reader{}.Read)
}
