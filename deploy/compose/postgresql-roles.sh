psql -v ON_ERROR_STOP=1 -U postgres -d postgres \
  -v owner="$DATABASE_OWNER_PASSWORD" -v temporal="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
create role amanah_owner login createrole password :'owner';
grant set on parameter log_min_error_statement, log_error_verbosity to amanah_owner;
alter database amanah owner to amanah_owner;
create database amanah_keys owner amanah_owner;
create role temporal login password :'temporal';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke all on database temporal, temporal_visibility, postgres from public;
SQL
