package page

var cursor string
