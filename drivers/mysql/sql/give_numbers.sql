-- Takes the next :count numbers of a counter. The last of them is the last insert id of the statement.
UPDATE hourbell_counter SET value = LAST_INSERT_ID(value + :count) WHERE name = :name
