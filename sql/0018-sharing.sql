-- Public links to documents (decisions 4.8). One per document, gone with it; there is no other way to revoke one.

CREATE TABLE public_shares (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text REFERENCES users ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- Says which document an id that somebody was given belongs to. It outlives the share, so that an id never comes back.
CREATE TABLE public_share_directory (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  document_id text COLLATE "C" NOT NULL
);
