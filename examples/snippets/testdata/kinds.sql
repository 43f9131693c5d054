create role reports;
create table sent (job bigint primary key);
