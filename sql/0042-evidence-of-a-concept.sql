-- The relations of a concept with evidence in a document, which the page about the concepts of the document lists. Until
-- now, all relations of the concept or all evidence in the document was read. To build the index reads the relations
-- once, and writes to them wait meanwhile.
CREATE INDEX concept_relations_evidence_subject_idx
  ON concept_relations (workspace_id, evidence_document_id, subject_concept_id, id)
  WHERE evidence_document_id IS NOT NULL;
DROP INDEX concept_relations_evidence_idx;
