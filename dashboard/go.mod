module github.com/hourbell/hourbell/dashboard

go 1.26.0

require (
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/access v0.0.0
)

require (
	golang.org/x/crypto v0.53.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace (
	github.com/hourbell/hourbell => ..
	github.com/hourbell/hourbell/access => ../access
)
