module github.com/hourbell/hourbell/hourbelltest

go 1.26.0

require github.com/hourbell/hourbell v0.0.0

replace github.com/hourbell/hourbell => ..
