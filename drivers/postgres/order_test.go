package postgres

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
)

func TestFailingJobsDoNotHoldUpFreshJobs(t *testing.T) { clienttest.Order(t, fresh(t)) }

func TestPrioritiesAge(t *testing.T) { clienttest.Ageing(t, openTwo) }

func TestClaimsOfUnknownEndAreSettled(t *testing.T) { clienttest.LostClaims(t, fresh(t)) }
