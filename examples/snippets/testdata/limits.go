package page

type Export struct{ Year int }

func (Export) Kind() string { return "export" }
