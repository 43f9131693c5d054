package kinds

// CheckArgs returns what is wrong with the arguments of a job of a kind of this
// package, or nil. It accepts any arguments of other kinds.
func CheckArgs(kind string, args []byte) error {
	var err error
	switch kind {
	case CommandKind:
		_, err = DecodeCommand(args)
	case HTTPKind:
		_, err = DecodeHTTP(args)
	case SQLKind:
		_, err = DecodeSQL(args)
	}
	return err
}
