-- Documents without their bodies (decisions 2.3). Whatever goes with a document references it ON DELETE CASCADE.

-- Ids of deleted documents are never used again: the row stays when the document goes. Ids are ordered by code point,
-- alike on every server (lists, exhaustive search).
CREATE TABLE document_directory (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE
);

-- version, body_seq, character_count and node_count describe the current row of document_bodies; version_seq is the number of
-- the last snapshot. body_seq grows by one with every effective change of the body.
CREATE TABLE documents (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL REFERENCES document_directory,
  knowledge_base_id bigint NOT NULL,
  folder_id bigint,
  title text NOT NULL,
  document_type text NOT NULL CHECK (document_type IN ('document', 'spreadsheet')),
  heading_numbered boolean NOT NULL,
  background_color text,
  collapsed_block_ids text[] NOT NULL,
  version text NOT NULL,
  body_seq bigint NOT NULL,
  version_seq bigint NOT NULL DEFAULT 0,
  character_count integer NOT NULL,
  node_count integer NOT NULL,
  document_set_id text,
  locale text,
  variant_role text CHECK (variant_role IN ('source', 'translation')),
  workflow_status text CHECK (workflow_status IN ('draft', 'in_review', 'published')),
  translated_from_document_id text COLLATE "C",
  translated_from_version text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  updated_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases,
  FOREIGN KEY (workspace_id, folder_id) REFERENCES folders
);
CREATE INDEX documents_updated_at_idx ON documents (workspace_id, updated_at DESC, id DESC);
CREATE INDEX documents_knowledge_base_id_idx ON documents (workspace_id, knowledge_base_id, id);
CREATE INDEX documents_folder_id_idx ON documents (workspace_id, folder_id, id) WHERE folder_id IS NOT NULL;
