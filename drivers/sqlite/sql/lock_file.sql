-- First in every writing transaction: takes the write lock, and waits for it,
-- before anything is read. It finds no row and so writes nothing.
DELETE FROM hourbell_counter WHERE name = ''
