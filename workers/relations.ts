import { queues } from '../shared/queues.ts'
import {
  compareLinks,
  type ExtractionSource,
  loadExtractionSource,
  writeRelations,
} from '../shared/relations/extract.ts'
import { type InlineChange, lockExtraction } from '../shared/relations/extraction-queries.ts'
import { defineProjection, type Projection } from './define.ts'

/** The inline relations of documents; they depend on the body alone (decisions B). */
export const relationsProjection: Projection<ExtractionSource, InlineChange> = {
  name: 'relations',
  queue: queues.relationsExtract,
  load: loadExtractionSource,
  compute: compareLinks,
  sameSource: (source, current) => source.version === current.version,
  projectedSeq: lockExtraction,
  write: writeRelations,
}

/** The worker type `relations`. */
export const relationExtractor = defineProjection(relationsProjection)
