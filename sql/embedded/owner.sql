-- Makes the ordinary role `documents` the owner of the embedded database and of everything in it. Run by the superuser
-- at each start: databases of earlier versions belonged to the superuser, and so did whatever the service made in them.
DO $$
DECLARE
  command text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'documents') THEN
    CREATE ROLE documents LOGIN;
  END IF;
  EXECUTE format('ALTER DATABASE %I OWNER TO documents', current_database());
  FOR command IN
    WITH spaces AS (
      SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    ), superuser AS (
      SELECT oid FROM pg_roles WHERE rolname = current_user
    )
    SELECT format('ALTER SCHEMA %I OWNER TO documents', n.nspname)
    FROM pg_namespace n WHERE n.oid IN (SELECT oid FROM spaces) AND n.nspowner IN (SELECT oid FROM superuser)
    UNION ALL
    -- Indexes, and sequences of columns, follow their tables.
    SELECT format('ALTER TABLE %s OWNER TO documents', c.oid::regclass)
    FROM pg_class c
    WHERE c.relnamespace IN (SELECT oid FROM spaces) AND c.relowner IN (SELECT oid FROM superuser)
      AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO documents', p.oid::regprocedure)
    FROM pg_proc p WHERE p.pronamespace IN (SELECT oid FROM spaces) AND p.proowner IN (SELECT oid FROM superuser)
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO documents', t.oid::regtype)
    FROM pg_type t
    WHERE t.typnamespace IN (SELECT oid FROM spaces) AND t.typowner IN (SELECT oid FROM superuser)
      AND t.typtype IN ('e', 'd', 'r')
    UNION ALL
    SELECT format('ALTER STATISTICS %s.%I OWNER TO documents', s.stxnamespace::regnamespace, s.stxname)
    FROM pg_statistic_ext s
    WHERE s.stxnamespace IN (SELECT oid FROM spaces) AND s.stxowner IN (SELECT oid FROM superuser)
  LOOP
    EXECUTE command;
  END LOOP;
END
$$;
