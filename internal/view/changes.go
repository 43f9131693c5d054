package main

import (
	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// changeRecord is what became of one job, for programs. Fields are only ever added.
type changeRecord struct {
	ID     int64  `json:"id"`
	Change string `json:"change"`
	Holder int64  `json:"holder,omitempty"` // of a conflict: the job that holds the unique key
}

// changeWords are the changes as programs read them.
var changeWords = map[store.Change]string{
	hourbell.JobChanged:   "changed",
	hourbell.JobRequested: "requested",
	hourbell.JobNotFound:  "not found",
	hourbell.JobUnchanged: "unchanged",
	hourbell.JobConflict:  "conflict",
}
