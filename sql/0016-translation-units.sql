-- Translation units, the jobs that propose texts for them, and what links both to documents (decisions 2.4, 3).

-- Which document follows which source. A write to the source makes and removes units of the targets without touching
-- their rows in `documents`, which their own writers lock: that is why units hang on this table.
CREATE TABLE translation_targets (
  workspace_id text NOT NULL,
  target_document_id text COLLATE "C" NOT NULL,
  source_document_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, target_document_id),
  FOREIGN KEY (workspace_id, target_document_id) REFERENCES documents ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, source_document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX translation_targets_source_idx
  ON translation_targets (workspace_id, source_document_id, target_document_id);

-- One unit for each paragraph or heading of the source that has text, and each target. source_hash and target_hash are
-- of the texts as they are now, kept by every write to either side; '' is a text that is blank or not there. base_* are
-- the texts that a person confirmed or a machine made, machine_target is the last text of a machine, whoever confirmed it
-- since. status follows from them and nothing else (decisions 3); only a
-- migration changes how.
CREATE TABLE translation_units (
  workspace_id text NOT NULL,
  id text NOT NULL,
  target_document_id text COLLATE "C" NOT NULL,
  source_block_id text NOT NULL,
  source_hash text NOT NULL,
  target_hash text NOT NULL DEFAULT '',
  base_source text,
  base_target text,
  base_kind text CHECK (base_kind IN ('machine', 'confirmed')),
  ignored boolean NOT NULL DEFAULT false,
  machine_target text,
  reviewed_at timestamptz(3),
  reviewed_by text REFERENCES users ON DELETE SET NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  status text NOT NULL GENERATED ALWAYS AS (
    CASE
      WHEN ignored THEN 'ignored'
      WHEN base_kind = 'confirmed' AND coalesce(base_source = source_hash, true)
        AND coalesce(base_target = target_hash, false) THEN 'current'
      WHEN target_hash = '' THEN 'missing'
      WHEN coalesce(base_source <> source_hash, false) AND coalesce(base_target <> target_hash, true) THEN 'conflict'
      WHEN coalesce(base_source <> source_hash, false) THEN 'source_changed'
      WHEN coalesce(base_target <> target_hash, true) OR base_kind IS NULL THEN 'manually_edited'
      ELSE 'machine_translated'
    END) STORED,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, target_document_id, source_block_id),
  FOREIGN KEY (workspace_id, target_document_id) REFERENCES translation_targets ON DELETE CASCADE
);
CREATE INDEX translation_units_status_idx ON translation_units (workspace_id, target_document_id, status);
-- A target is outdated as soon as there is one of these.
CREATE INDEX translation_units_open_idx ON translation_units (workspace_id, target_document_id)
  WHERE status IN ('missing', 'source_changed', 'conflict');

-- The blocks of the target that hold the text of a unit, in order; hash is of the block's text, '' when it is blank or
-- not in the body at the moment. Two units may share a block.
CREATE TABLE translation_unit_blocks (
  workspace_id text NOT NULL,
  target_document_id text COLLATE "C" NOT NULL,
  block_id text NOT NULL,
  unit_id text NOT NULL,
  ordinal integer NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (workspace_id, target_document_id, block_id, unit_id),
  FOREIGN KEY (workspace_id, unit_id) REFERENCES translation_units ON DELETE CASCADE
);
CREATE INDEX translation_unit_blocks_unit_idx ON translation_unit_blocks (workspace_id, unit_id, ordinal);

-- A job outlives its documents, so that its caller learns what became of it. The columns up to finished_at are those of
-- every job that people ask for (shared/user-jobs/README.md); actor is who asked, through which client, as the audit
-- keeps it. units: what was asked for, each with the hash of its source text, or with the status that keeps it from being
-- translated. result: one entry for each of them. reserved_characters count against the quota of the UTC day of
-- created_at, unless the job ended without any output: a refund is no event that could be forgotten.
CREATE TABLE translation_jobs (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'obsolete')),
  attempt text,
  requested_by text REFERENCES users ON DELETE SET NULL,
  model text NOT NULL,
  usage jsonb,
  error_code text,
  obsolete_reason text CHECK (obsolete_reason IN ('source_changed', 'document_deleted')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  actor jsonb NOT NULL,
  document_set_id text NOT NULL,
  source_document_id text COLLATE "C" NOT NULL,
  target_document_id text COLLATE "C" NOT NULL,
  source_locale text NOT NULL,
  target_locale text NOT NULL,
  source_version text NOT NULL,
  target_version text NOT NULL,
  units jsonb NOT NULL,
  remaining_unit_count integer NOT NULL,
  reserved_characters integer NOT NULL,
  result jsonb,
  input_characters integer NOT NULL DEFAULT 0,
  output_characters integer NOT NULL DEFAULT 0,
  applied_at timestamptz(3),
  PRIMARY KEY (workspace_id, id),
  CHECK ((finished_at IS NULL) = (status IN ('pending', 'running'))),
  CHECK ((status = 'obsolete') = (obsolete_reason IS NOT NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
CREATE INDEX translation_jobs_open_source_idx ON translation_jobs (workspace_id, source_document_id)
  WHERE finished_at IS NULL;
CREATE INDEX translation_jobs_open_target_idx ON translation_jobs (workspace_id, target_document_id)
  WHERE finished_at IS NULL;
CREATE INDEX translation_jobs_day_idx ON translation_jobs (workspace_id, created_at);
CREATE INDEX translation_jobs_finished_at_idx ON translation_jobs (finished_at);
