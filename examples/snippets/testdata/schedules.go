package page

var user struct {
	ID         int
	Name, Zone string
}

type Report struct{ User int }

func (Report) Kind() string { return "report" }
