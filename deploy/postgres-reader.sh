#!/bin/sh
# Run once by the container of PostgreSQL: a user for Grafana that may read, and nothing else.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$GRAFANA_DATABASE_PASSWORD" \
    --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'END'
CREATE ROLE grafana LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
ALTER ROLE grafana SET default_transaction_read_only = on;
ALTER ROLE grafana SET statement_timeout = '30s';
GRANT USAGE ON SCHEMA public TO grafana;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO grafana;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO grafana;
END
