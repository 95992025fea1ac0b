-- The place of each row of search_blocks in its document: block id and position of the top-level block, by `ord`. The
-- row of the title has no place. Until now the rows had columns for their block ids. When all blocks of a body got new
-- ids, as those of plain Markdown do, all its rows and their postings were written anew. Each position was looked up in
-- a list of all ids. The arrays belong to the present rows only while rows_at = indexed_at. A worker of the version
-- before does not know the arrays. Such a worker writes the columns block_id and top_block_id, which rows of this
-- version leave empty. The new columns are added without reading the table, so the lock on the table takes
-- milliseconds.
ALTER TABLE search_documents
  ADD COLUMN rows_at timestamptz(3),
  ADD COLUMN row_ords bigint[],
  ADD COLUMN row_positions integer[],
  ADD COLUMN row_block_ids text[];

-- The arrays are stored uncompressed, since a hit reads one element of each. In a document of ten thousand blocks that
-- takes 0.3 ms; finding the position in the compressed list of ids took 2 ms.
ALTER TABLE search_documents
  ALTER COLUMN row_ords SET STORAGE EXTERNAL,
  ALTER COLUMN row_positions SET STORAGE EXTERNAL,
  ALTER COLUMN row_block_ids SET STORAGE EXTERNAL;
