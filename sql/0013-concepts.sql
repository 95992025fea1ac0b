-- Concepts, what is said about them, and the candidates for them (decisions 2.10). A concept outlives the documents
-- that it refers to (decisions 4.15): references to documents and blocks are plain ids, which a reader may find gone.

-- A merged concept stays, so that its id goes on resolving; merged_into_concept_id always names the concept that is
-- left, also after that was merged itself. version is the n of the ETag concept:n. Names are compared by code point,
-- so that lists have the same order on every server.
CREATE TABLE concepts (
  workspace_id text NOT NULL,
  id text NOT NULL,
  knowledge_base_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  normalized_name text NOT NULL,
  description text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged', 'archived')),
  canonical_document_id text COLLATE "C",
  version bigint NOT NULL DEFAULT 1,
  merged_into_concept_id text,
  merged_at timestamptz(3),
  merged_by text REFERENCES users ON DELETE SET NULL,
  merge_reason text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, merged_into_concept_id) REFERENCES concepts,
  CHECK ((status = 'merged') = (merged_into_concept_id IS NOT NULL)),
  CHECK ((status = 'merged') = (merged_at IS NOT NULL))
);
CREATE INDEX concepts_name_idx ON concepts (workspace_id, knowledge_base_id, name, id);
-- A normalised name can be longer than an index entry, so its digest stands for it.
CREATE UNIQUE INDEX concepts_active_name_idx ON concepts (workspace_id, knowledge_base_id, md5(normalized_name))
  WHERE status = 'active';
CREATE INDEX concepts_canonical_document_id_idx ON concepts (workspace_id, canonical_document_id)
  WHERE canonical_document_id IS NOT NULL;
CREATE INDEX concepts_merged_into_idx ON concepts (workspace_id, merged_into_concept_id)
  WHERE merged_into_concept_id IS NOT NULL;

-- Two concepts may have the same alias, one concept has it once. ordinal is the place among the manual ones.
CREATE TABLE concept_aliases (
  workspace_id text NOT NULL,
  id text NOT NULL,
  concept_id text NOT NULL,
  alias text NOT NULL,
  normalized_alias text NOT NULL,
  origin text NOT NULL CHECK (origin IN ('manual', 'candidate', 'merge')),
  ordinal integer NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, concept_id) REFERENCES concepts ON DELETE CASCADE
);
CREATE UNIQUE INDEX concept_aliases_concept_id_idx
  ON concept_aliases (workspace_id, concept_id, md5(normalized_alias));
CREATE INDEX concept_aliases_normalized_alias_idx ON concept_aliases (workspace_id, md5(normalized_alias));

CREATE TABLE concept_labels (
  workspace_id text NOT NULL,
  concept_id text NOT NULL,
  locale text NOT NULL,
  name text NOT NULL,
  description text,
  origin text NOT NULL CHECK (origin IN ('manual', 'candidate', 'merge')),
  created_by text REFERENCES users ON DELETE SET NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, concept_id, locale),
  FOREIGN KEY (workspace_id, concept_id) REFERENCES concepts ON DELETE CASCADE
);

-- object_id is a concept or, for the kinds document and block, a document. [valid_from, valid_to) is in Unix
-- milliseconds, null is without bound. evidence_version null with a document is evidence without a version
-- ("unanchored").
CREATE TABLE concept_relations (
  workspace_id text NOT NULL,
  id text NOT NULL,
  subject_concept_id text NOT NULL,
  predicate text NOT NULL CHECK (predicate IN ('alias_of', 'broader_than', 'related_to', 'evidenced_by')),
  object_kind text NOT NULL CHECK (object_kind IN ('concept', 'document', 'block')),
  object_id text NOT NULL,
  object_block_id text,
  valid_from bigint,
  valid_to bigint,
  origin text NOT NULL CHECK (origin IN ('manual', 'candidate')),
  evidence_document_id text COLLATE "C",
  evidence_block_id text,
  evidence_version text,
  evidence_excerpt text,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, subject_concept_id) REFERENCES concepts ON DELETE CASCADE,
  CHECK ((object_kind = 'block') = (object_block_id IS NOT NULL)),
  CHECK (valid_from < valid_to)
);
CREATE INDEX concept_relations_subject_idx ON concept_relations (workspace_id, subject_concept_id, id);
CREATE INDEX concept_relations_object_idx ON concept_relations (workspace_id, object_id, id);
CREATE INDEX concept_relations_pair_idx ON concept_relations (workspace_id, subject_concept_id, object_id);
-- What is walked in search of a cycle while nobody else can add to the hierarchy.
CREATE INDEX concept_relations_hierarchy_idx ON concept_relations (workspace_id, subject_concept_id, object_id)
  WHERE predicate = 'broader_than';
CREATE INDEX concept_relations_evidence_idx ON concept_relations (workspace_id, evidence_document_id)
  WHERE evidence_document_id IS NOT NULL;

-- Which documents candidates were extracted from, and what of: a write to one of them makes the projection
-- `candidates` stale, a write to any other document does not.
CREATE TABLE concept_extractions (
  workspace_id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  body_seq bigint NOT NULL,
  extracted_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, document_id),
  FOREIGN KEY (workspace_id, document_id) REFERENCES documents ON DELETE CASCADE
);

-- A pending candidate is in the knowledge base of its document and goes with the document. A reviewed one is in the
-- knowledge base it was reviewed in, which knowledge_base_id then names, and outlives its document: its fingerprint is
-- never proposed again. missing_since is when a pending one was first not found in its document any more.
CREATE TABLE concept_candidates (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  block_id text,
  name text NOT NULL,
  normalized_name text NOT NULL,
  excerpt text NOT NULL,
  extractor text NOT NULL CHECK (extractor IN ('title', 'link_anchor')),
  extractor_version text NOT NULL,
  fingerprint text NOT NULL,
  source_version text NOT NULL,
  review_status text NOT NULL DEFAULT 'pending' CHECK (review_status IN ('pending', 'accepted', 'rejected')),
  reviewed_at timestamptz(3),
  reviewed_by text REFERENCES users ON DELETE SET NULL,
  review_reason text,
  concept_id text,
  knowledge_base_id bigint,
  version bigint NOT NULL DEFAULT 1,
  missing_since timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  pending_document_id text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN review_status = 'pending' THEN document_id END) STORED,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, fingerprint),
  FOREIGN KEY (workspace_id, pending_document_id) REFERENCES documents ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE,
  CHECK ((review_status = 'pending') = (knowledge_base_id IS NULL))
);
CREATE INDEX concept_candidates_pending_idx ON concept_candidates (workspace_id, pending_document_id, id)
  WHERE pending_document_id IS NOT NULL;
CREATE INDEX concept_candidates_reviewed_idx ON concept_candidates (workspace_id, knowledge_base_id, document_id, id)
  WHERE knowledge_base_id IS NOT NULL;
