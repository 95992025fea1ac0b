/** The registered predicates with what they say of source and target, and where they come from (specification 2.9). */
export const relationTypes = [
  {
    predicate: 'refers_to',
    description: 'The source mentions or links to the target.',
    inverse_label: 'referred to by',
    origins: ['inline', 'manual'],
  },
  {
    predicate: 'supports',
    description: 'The source gives evidence for the target.',
    inverse_label: 'supported by',
    origins: ['manual'],
  },
  {
    predicate: 'depends_on',
    description: 'The source presumes the target.',
    inverse_label: 'required by',
    origins: ['manual'],
  },
  {
    predicate: 'contradicts',
    description: 'The source says the opposite of the target.',
    inverse_label: 'contradicted by',
    origins: ['manual'],
  },
] as const

/** A registered predicate. */
export type Predicate = (typeof relationTypes)[number]['predicate']

/** Every registered predicate. */
export const predicates: readonly Predicate[] = relationTypes.map(({ predicate }) => predicate)
