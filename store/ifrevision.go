package store

// OnlyNew is the IfRevision of a put that only creates: nothing may have its name (ErrExists).
const OnlyNew int64 = -1

// CheckRevision returns why the IfRevision of a put or of a deletion refuses it, or nil. revision is the revision of what has the
// name; 0: nothing has it.
func CheckRevision(ifRevision, revision int64) error {
	switch {
	case ifRevision == 0, ifRevision == OnlyNew && revision == 0:
		return nil
	case ifRevision == OnlyNew:
		return ErrExists
	case revision != ifRevision:
		return ErrConflict
	}
	return nil
}

// existsError is the type of ErrExists, which is an ErrConflict.
type existsError struct{}

func (existsError) Error() string { return "exists already" }

func (existsError) Unwrap() error { return ErrConflict }
