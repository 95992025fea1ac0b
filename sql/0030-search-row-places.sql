-- Where the rows of search_blocks stand in their document: block id and position of the top-level block, by `ord`, for
-- all rows but the title. They were columns of the rows, so that a body whose blocks got new ids, as plain Markdown
-- does, had all its rows and their postings written anew, and each position was looked up in a list of all ids. The
-- arrays are those of the rows while rows_at = indexed_at. A worker of the version before does not know them and writes
-- the columns block_id and top_block_id instead, which rows of this version leave empty. The columns are added without
-- reading the table, so its lock takes milliseconds.
ALTER TABLE search_documents
  ADD COLUMN rows_at timestamptz(3),
  ADD COLUMN row_ords bigint[],
  ADD COLUMN row_positions integer[],
  ADD COLUMN row_block_ids text[];

-- Uncompressed, since a hit reads one element. In a document of ten thousand blocks that takes 0.3 ms; finding the
-- position in the compressed list of ids took 2 ms.
ALTER TABLE search_documents
  ALTER COLUMN row_ords SET STORAGE EXTERNAL,
  ALTER COLUMN row_positions SET STORAGE EXTERNAL,
  ALTER COLUMN row_block_ids SET STORAGE EXTERNAL;
