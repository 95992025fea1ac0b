-- The folders at the root of a knowledge base in their manual order, as the pages for browsers list them. Without these
-- indexes PostgreSQL reads the root folders of all knowledge bases of the workspace.
CREATE INDEX folders_root_placed_idx ON folders (workspace_id, knowledge_base_id, order_key, id)
WHERE parent_id IS NULL AND order_key IS NOT NULL;
CREATE INDEX folders_root_unplaced_idx ON folders (workspace_id, knowledge_base_id, name COLLATE "C", id)
WHERE parent_id IS NULL AND order_key IS NULL;
