-- read: the record of a name.

return record()
