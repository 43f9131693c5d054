-- read: returns the record of a name.

return record()
