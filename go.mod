module github.com/hourbell/hourbell

go 1.26.0
