psql -v ON_ERROR_STOP=1 -U postgres -d postgres \
  -v owner="$DATABASE_OWNER_PASSWORD" -v backup="$DATABASE_BACKUP_PASSWORD" -v temporal="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
create role amanah_owner login createrole password :'owner';
grant set on parameter log_min_error_statement, log_error_verbosity to amanah_owner;
alter database amanah owner to amanah_owner;
create database amanah_keys owner amanah_owner;
create role temporal login password :'temporal';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
create role amanah_backup login replication password :'backup';
grant pg_read_all_settings, pg_read_all_stats, pg_checkpoint to amanah_backup;
grant execute on function pg_backup_start, pg_backup_stop, pg_switch_wal, pg_create_restore_point to amanah_backup;
revoke all on database temporal, temporal_visibility, postgres from public;
grant connect on database postgres to amanah_backup;
SQL
echo 'host replication amanah_backup all scram-sha-256' >> "$PGDATA/pg_hba.conf"
