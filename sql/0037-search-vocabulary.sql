-- The words of the documents of each workspace, for the suggestions of searches that find nothing. The search worker
-- adds the new words of each row that it writes. A word may outlive the last document that holds it, so a search
-- confirms each word in the documents of its scope. The new version of the tokeniser has every document indexed again,
-- which fills the table. A workspace has no foreign key here, since each check of the key would lock the row of the
-- workspace.
CREATE TABLE search_words (
  workspace_id text NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, word)
);

-- A misspelt word shares its beginning or its end with the right word. This index finds words by their end.
CREATE INDEX search_words_reversed_idx ON search_words (workspace_id, reverse(word));

-- The words of a workspace are deleted with the workspace. A deletion waits for the workers that index its documents
-- before the trigger runs, so the trigger misses no word of such a worker.
CREATE FUNCTION forget_workspace_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_words w USING deleted WHERE w.workspace_id = deleted.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER forget_workspace_words AFTER DELETE ON workspaces
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION forget_workspace_words();
