package files

import (
	"context"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
)

// Apply puts the schedules and limits of a file into the store, all or none, under the owner
// of the file. With prune the owner's other schedules and limits are deleted. A file with a
// revision that is older than the stored revision is hourbell.ErrStale.
func Apply(ctx context.Context, client *hourbell.Client, set *declared.File, prune bool) (hourbell.SyncResult, error) {
	if prune {
		return client.Schedules.Sync(ctx, set.Owner, set.Revision, set.Schedules(), set.LimitsOption()...)
	}
	return client.Schedules.PutAll(ctx, set.Owner, set.Revision, set.Schedules(), set.LimitsOption()...)
}

// WarnAtStart adds warnings about the parts of a file that are not stored: entries
// without a rule, and how long jobs of kinds are kept.
func WarnAtStart(path string, set *declared.File) {
	for _, entry := range set.AtStart {
		set.Warn(declared.Error{
			File: path, Line: entry.Line, Field: entry.AtStart(), Problem: "is not put into the store",
			Remedy: "it runs on the nodes that have the file: hourbell serve --file",
		})
	}
	if len(set.Keep) > 0 {
		set.Warn(declared.Error{
			File: path, Field: "kinds", Problem: "is not put into the store",
			Remedy: "the nodes that have the file keep jobs as it says: hourbell serve --file",
		})
	}
}
