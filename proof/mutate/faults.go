package main

var postgresFaults = []fault{}

var sqliteFaults = []fault{}
