package declared

import "github.com/hourbell/hourbell"

// Raw returns the kind and the JSON of the job of a schedule or hook that was
// read from a file or from the store. It is the zero value for other jobs and
// for nil.
func Raw(job hourbell.Args) hourbell.RawArgs {
	raw, _ := job.(hourbell.RawArgs)
	return raw
}
