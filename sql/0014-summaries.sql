-- Summaries and the jobs by which a model makes them (decisions 2.11).

-- What a model has answered to a job that is not finished, so that a job whose worker died does not pay twice. The rows
-- go when the job ends; the sweep takes those whose worker never came back.
CREATE TABLE model_answers (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  job_id text NOT NULL,
  request_hash text NOT NULL,
  text text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, job_id, request_hash)
);
CREATE INDEX model_answers_created_at_idx ON model_answers (created_at);

-- What deterministic summaries take from a body, kept so that a tree of ten thousand documents reads no bodies. A cache
-- that readers fill: a row that is missing or of another version is made anew.
CREATE TABLE summary_digests (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  version text NOT NULL,
  digest jsonb NOT NULL,
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- A stored summary of one target: a document (block_id '' ) or a section of it (block_id of its heading), a folder or a
-- knowledge base. source_version is what the text was made from; whether it is still current is found out at read.
-- version counts every change of text or pin, also those of a summary that was there before.
CREATE TABLE summaries (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  target_type text NOT NULL CHECK (target_type IN ('document', 'section', 'folder', 'knowledge_base')),
  -- The id of the target as text, so that one key serves all four kinds.
  target_id text COLLATE "C" NOT NULL,
  block_id text NOT NULL DEFAULT '',
  document_id text COLLATE "C",
  folder_id bigint,
  knowledge_base_id bigint,
  version bigint NOT NULL,
  text text NOT NULL,
  generator text NOT NULL CHECK (generator IN ('deterministic', 'manual', 'model')),
  pinned boolean NOT NULL,
  source_version text NOT NULL,
  source_block_ids text[] NOT NULL,
  source_document_ids text[] NOT NULL,
  coverage jsonb NOT NULL,
  model text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, target_type, target_id, block_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, folder_id) REFERENCES folders ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE,
  CHECK (num_nonnulls(document_id, folder_id, knowledge_base_id) = 1)
);
CREATE INDEX summaries_document_id_idx ON summaries (workspace_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX summaries_folder_id_idx ON summaries (workspace_id, folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX summaries_knowledge_base_id_idx ON summaries (workspace_id, knowledge_base_id)
  WHERE knowledge_base_id IS NOT NULL;

-- The columns up to finished_at are those of every job that people ask for (shared/user-jobs/README.md). The rest says
-- what it was asked about; the ids are no foreign keys, since a job can be read after its target has gone.
CREATE TABLE summary_jobs (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'obsolete')),
  attempt text,
  requested_by text REFERENCES users ON DELETE SET NULL,
  model text NOT NULL,
  usage jsonb,
  error_code text,
  obsolete_reason text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  target_type text NOT NULL,
  target_id text COLLATE "C" NOT NULL,
  block_id text NOT NULL DEFAULT '',
  document_id text COLLATE "C",
  folder_id bigint,
  knowledge_base_id bigint,
  -- A section has a version of its own, so a change elsewhere in its document leaves its job alone.
  whole_document_id text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN block_id = '' THEN document_id END) STORED,
  source_version text NOT NULL,
  base_version bigint NOT NULL,
  result_version bigint,
  PRIMARY KEY (workspace_id, id),
  CHECK ((finished_at IS NULL) = (status IN ('pending', 'running')))
);
-- One open job for each target and source version: whoever asks again gets the same.
CREATE UNIQUE INDEX summary_jobs_open_key
  ON summary_jobs (workspace_id, target_type, target_id, block_id, source_version) WHERE finished_at IS NULL;
CREATE INDEX summary_jobs_finished_at_idx ON summary_jobs (finished_at);
