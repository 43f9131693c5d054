hourbell migrate up >/dev/null # the page is about a store that is there
