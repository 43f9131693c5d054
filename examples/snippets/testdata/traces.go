package page

import "github.com/hourbell/hourbell/observe/otel"
