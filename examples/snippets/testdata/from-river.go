package page

import "sort"

type SortArgs struct{ Strings []string }

func (SortArgs) Kind() string { return "sort" }
