package rowwise

// InTx returns what do has found out in a transaction: run calls do in a transaction and commits it, and may call do again in another
// transaction if the first was rolled back. After an error of run, also of its commit, InTx returns the zero T. So that nothing of a
// transaction outlives its rollback, do writes to no variable outside of it.
func InTx[Tx, T any](run func(do func(tx Tx) error) error, do func(tx Tx) (T, error)) (T, error) {
	var out, none T
	err := run(func(tx Tx) (err error) {
		out, err = do(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}
