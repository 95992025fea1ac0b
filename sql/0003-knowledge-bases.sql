-- Knowledge bases and their folders (decisions 2.1, 2.2).
-- The directories issue the public integer ids and say which workspace an id belongs to. Their rows outlive the
-- object, so an id never comes back.

CREATE TABLE knowledge_base_directory (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE
);

CREATE TABLE folder_directory (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE
);

CREATE TABLE knowledge_bases (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id bigint NOT NULL REFERENCES knowledge_base_directory,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, id)
);

-- parent_id null is the root of the knowledge base. A folder goes with its parent and with its knowledge base.
CREATE TABLE folders (
  workspace_id text NOT NULL,
  id bigint NOT NULL REFERENCES folder_directory,
  knowledge_base_id bigint NOT NULL,
  parent_id bigint,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, parent_id) REFERENCES folders ON DELETE CASCADE
);
CREATE INDEX folders_knowledge_base_id_idx ON folders (workspace_id, knowledge_base_id);
CREATE INDEX folders_parent_id_idx ON folders (workspace_id, parent_id);
